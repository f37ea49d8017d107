import dog.ApiClient;
import dog.ApiException;
import dog.api.GamesApi;
import dog.model.CreateGame;
import java.util.HashSet;

/**
 * Creates 300 games one after another. The JDK's client keeps the connection, and never sends a
 * POST again: one that is lost ends the program.
 *
 * <p>usage: java Posts URL
 */
public final class Posts {
    private Posts() {}

    public static void main(String[] arguments) throws ApiException {
        ApiClient client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        GamesApi games = new GamesApi(client);
        var ids = new HashSet<String>();
        for (int sent = 0; sent < 300; sent++) {
            ids.add(games.createGame(null, new CreateGame().listed(false)).getId());
        }
        if (ids.size() != 300) throw new IllegalStateException(ids.size() + " games");
    }
}
