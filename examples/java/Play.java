import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dog.ApiClient;
import dog.ApiException;
import dog.api.*;
import dog.model.*;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorCompletionService;
import java.util.stream.Stream;

/**
 * Plays a whole game of DOG with four clients, each of which joins by invitation.
 *
 * <p>usage: java Play [URL [PRESET]]    (http://127.0.0.1:8080 and hausregeln by default)
 *
 * <p>Seats 0 and 2 do what the server advises. Seats 1 and 3 choose for themselves: a seven or a
 * joker if they can play one.
 */
public final class Play {
    private static final ObjectMapper JSON =
            ApiClient.createDefaultObjectMapper().addMixIn(Event.class, NewerEvent.class);

    /** A card of a newer server. */
    private static final Card NEWER = Card.UNKNOWN_DEFAULT_OPEN_API;

    /** Reads an event of a newer server as an empty one. */
    @JsonDeserialize(using = NewerEvent.Reader.class)
    private interface NewerEvent {
        final class Reader extends JsonDeserializer<Event> {
            private final JsonDeserializer<Event> known = new Event.EventDeserializer();

            @Override
            public Event deserialize(JsonParser json, DeserializationContext context) {
                try {
                    return known.deserialize(json, context);
                } catch (IOException error) {
                    return new Event();
                }
            }
        }
    }

    private final ApiClient client;
    private final GamesApi games;
    private final PlayApi api;
    private final String id;
    private final int seat;
    private int winner;
    private long newest; // the newest version that an answer has told of

    /** Joins a game. */
    private Play(String url, String id, JoinRequest request) throws ApiException {
        Joined joined = new SeatsApi(connect(url)).joinGame(id, null, null, request);
        this.id = id;
        this.seat = joined.getSeat();
        this.client = connect(url);
        this.client.setRequestInterceptor(
                builder -> builder.header("Authorization", "Bearer " + joined.getToken()));
        this.games = new GamesApi(client);
        this.api = new PlayApi(client);
    }

    private static ApiClient connect(String url) {
        return new ApiClient(ApiClient.createDefaultHttpClientBuilder(), JSON, url);
    }

    private interface Call<T> {
        T send() throws ApiException;
    }

    /** The answer to a call, which is sent again after as many seconds as the server asks for. */
    private static <T> T ok(Call<T> call) throws ApiException, InterruptedException {
        while (true) {
            try {
                return call.send();
            } catch (ApiException refusal) {
                if (refusal.getResponseHeaders() == null) throw refusal; // the network failed
                var seconds = refusal.getResponseHeaders().firstValueAsLong("Retry-After");
                if (seconds.isEmpty()) throw refusal;
                Thread.sleep(1000 * seconds.getAsLong());
            }
        }
    }

    /** Plays until the game is over. Resumes a broken stream. Returns the team that has won. */
    private int play() throws Exception {
        URI events = URI.create(client.getBaseUri() + "/v1/games/" + id + "/events");
        for (String version = null; ; Thread.sleep(100)) {
            var request = HttpRequest.newBuilder(events).header("Accept", "application/x-ndjson");
            client.getRequestInterceptor().accept(request);
            if (version != null) request.header("Last-Event-ID", version);
            try {
                var response = client.getHttpClient().send(request.build(), BodyHandlers.ofLines());
                if (response.statusCode() == 204) return winner; // nothing more comes
                if (response.statusCode() != 200) throw new ApiException(response.statusCode(), id);
                for (Iterator<String> lines = response.body().iterator(); lines.hasNext(); ) {
                    String line = lines.next();
                    if (line.isEmpty()) continue; // a heartbeat
                    Object message;
                    try {
                        message = JSON.readValue(line, StreamMessage.class).getActualInstance();
                    } catch (JsonProcessingException error) { // of a newer server
                        continue;
                    }
                    if (message instanceof Game game) {
                        version = game.getVersion().toString();
                        act();
                    } else if (message instanceof Change change) {
                        version = change.getVersion().toString();
                        change.getEvents().forEach(this::tell);
                        List<Integer> toAct = change.getToAct(); // null in all but the newest change
                        boolean isNew = change.getVersion() >= newest;
                        if (isNew && toAct != null && toAct.contains(seat)) act();
                    } // other messages tell who is present
                }
            } catch (IOException | UncheckedIOException error) {
                continue; // the connection broke
            }
        }
    }

    private void tell(Event event) {
        if (event.getActualInstance() instanceof CardPlayed played && seat == 0) {
            System.out.printf("seat %d plays %s%n", played.getSeat(), played.getMove().getId());
        }
        if (event.getActualInstance() instanceof GameWon won) winner = won.getTeam();
    }

    /** Does what the seat has to do now, if anything. */
    private void act() throws ApiException, InterruptedException {
        Game game = ok(() -> games.getGame(id, null, null));
        newest = game.getVersion();
        for (PossibleAction action : game.getActions()) {
            if (action.getRoute() == ActionRoute.UNKNOWN_DEFAULT_OPEN_API) continue;
            try {
                if (!partnerIsFirst(game, action)) newest = act(game, action).getVersion();
            } catch (ApiException refusal) {
                boolean late = refusal.getCode() == 409 || refusal.getCode() == 412;
                if (!late) throw refusal; // otherwise another acted first, as the stream will tell
            }
        }
    }

    private Changed act(Game game, PossibleAction action)
            throws ApiException, InterruptedException {
        if (action.getRoute() == ActionRoute.DEAL) {
            return ok(() -> api.dealCards(id, null, null, null));
        }
        Object choice = choose(game, action);
        if (choice instanceof SwapRequest swap) {
            return ok(() -> api.swapCards(id, swap, null, null));
        }
        PlayRequest move = (PlayRequest) choice;
        move.setVersion(game.getVersion()); // plays in this state of the game only
        return ok(() -> api.playMove(id, move, null, null));
    }

    /** Of two partners who may ask each other for a card, the lower seat decides first. */
    private boolean partnerIsFirst(Game game, PossibleAction action) {
        var choices = action.getChoices();
        if (choices == null || !choices.contains(ExchangeChoice.PASS)) return false;
        Integer team = game.getSeats().get(seat).getTeam();
        return game.getSeats().stream().limit(seat).anyMatch(other ->
                other.getTeam().equals(team) && other.getExchange() == ExchangeState.PENDING
                        && other.getKind() == SeatKind.HUMAN
                        && !other.getAway() && !other.getStandIn());
    }

    /** A move, or an answer in the exchange. */
    private Object choose(Game game, PossibleAction action)
            throws ApiException, InterruptedException {
        if (seat % 2 == 0) {
            Advice advice = ok(() -> api.suggestMove(id, BotLevel.GREEDY, null, null, null, null, null));
            for (Suggestion suggestion : advice.getSuggestions()) {
                Object best = suggestion.getActualInstance();
                if (best instanceof SuggestedMove move) return move.getRequest().getBody();
                if (best instanceof SuggestedSwap swap) {
                    SwapRequest answer = swap.getRequest().getBody();
                    if (answer.getCard() != NEWER) return answer;
                }
            }
        }
        if (action.getRoute() == ActionRoute.SWAP) {
            Stream<Card> known =
                    game.getSeats().get(seat).getHand().stream().filter(card -> card != NEWER);
            return action.getChoices().contains(ExchangeChoice.CARD)
                    ? new SwapRequest().card(known.findFirst().orElseThrow())
                    : new SwapRequest().pass(true);
        }
        List<Move> moves = ok(() -> api.listLegalMoves(id, false, null)).getMoves();
        return new PlayRequest().move(moves.stream()
                .filter(move -> move.getKind() == MoveKind.SEVEN || move.getCard() == Card.JOKER)
                .findFirst().orElse(moves.get(0)).getId());
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments.length > 0 ? arguments[0] : "http://127.0.0.1:8080";
        String preset = arguments.length > 1 ? arguments[1] : "hausregeln";
        List<String> names = List.of("Anna", "Beat", "Carla", "Dani");
        var body = new CreateGame().rules(new RulesRequest().preset(Preset.fromValue(preset)));
        names.forEach(name -> body.addSeatsItem(new SeatRequest().kind(SeatKind.OPEN)));
        Created created = new GamesApi(connect(url)).createGame(null, body);

        var winners = new ExecutorCompletionService<Integer>(Play::startDaemon);
        for (String name : names) {
            var request = new JoinRequest().invitation(created.getInvitation()).name(name);
            winners.submit(() -> new Play(url, created.getId(), request).play());
        }
        int winner = winners.take().get();
        for (int others = 1; others < names.size(); others++) {
            boolean agrees = winners.take().get() == winner;
            if (!agrees) throw new IllegalStateException("the seats disagree");
        }
        System.out.printf("team %d has won%n", winner);
    }

    private static void startDaemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true); // ends with the program
        thread.start();
    }
}
