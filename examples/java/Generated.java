package javax.annotation;

/** Marks generated code. Java has it no more; Maven and Gradle would get it with a library. */
public @interface Generated {
    String value();

    String date() default "";

    String comments();
}
