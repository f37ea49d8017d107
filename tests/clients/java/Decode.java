import com.fasterxml.jackson.databind.ObjectMapper;
import dog.ApiClient;
import dog.model.HistoryLine;
import dog.model.StreamMessage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Decodes lines of JSON of a type of the OpenAPI document from standard input, and writes what it
 * has decoded.
 *
 * <p>usage: java Decode HistoryLine|StreamMessage
 */
public final class Decode {
    private Decode() {}

    public static void main(String[] arguments) throws IOException {
        Class<?> type = switch (arguments[0]) {
            case "HistoryLine" -> HistoryLine.class;
            case "StreamMessage" -> StreamMessage.class;
            default -> throw new IllegalArgumentException(arguments[0]);
        };
        ObjectMapper mapper = ApiClient.createDefaultObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(mapper.writeValueAsString(mapper.readValue(line, type)));
        }
    }
}
