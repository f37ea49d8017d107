package javax.annotation;

/** Marks generated code. Java no longer has it; with Maven or Gradle it comes from a library. */
public @interface Generated {
    String value();

    String date() default "";

    String comments();
}
