// Plays a whole game of DOG with four clients, each of which joins by invitation.
//
// usage: go run . [URL [PRESET]]    (http://127.0.0.1:8080 and hausregeln by default)
//
// Seats 0 and 2 do what the server advises. Seats 1 and 3 choose for themselves: a seven or a
// joker if they can play one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"example.org/play/dog"
)

var ctx = context.Background()

// patient sends a request again after as many seconds as the server asks for.
type patient struct{}

func (patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for {
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil || response.Header.Get("Retry-After") == "" {
			return response, err
		}
		response.Body.Close()
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(seconds) * time.Second)
		if request.GetBody != nil {
			request = request.Clone(ctx)
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

func connect(url, token string) *dog.APIClient {
	config := dog.NewConfiguration()
	config.Servers[0].URL = url
	config.HTTPClient = &http.Client{Transport: patient{}}
	if token != "" {
		config.AddDefaultHeader("Authorization", "Bearer "+token)
	}
	return dog.NewAPIClient(config)
}

// follow passes on the game, then each change until the game is over. Resumes a broken stream.
func follow(api *dog.APIClient, id string, receive func(dog.StreamMessage) error) error {
	config := api.GetConfig()
	url := config.Servers[0].URL + "/v1/games/" + id + "/events"
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", config.DefaultHeader["Authorization"])
	request.Header.Set("Accept", "application/x-ndjson")
	for ; ; time.Sleep(100 * time.Millisecond) {
		response, err := config.HTTPClient.Do(request)
		if err != nil {
			continue
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusNoContent {
			return nil // nothing comes after the last version
		}
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		body := bufio.NewReader(response.Body)
		for {
			line, err := body.ReadBytes('\n')
			if err != nil {
				break
			}
			if len(line) == 1 {
				continue // an empty line is a heartbeat
			}
			var message dog.StreamMessage
			if err := json.Unmarshal(line, &message); err != nil {
				return err
			}
			var version int64
			switch {
			case message.Game != nil:
				version = message.Game.Version
			case message.Change != nil:
				version = message.Change.Version
			default: // who is present
				continue
			}
			request.Header.Set("Last-Event-ID", strconv.FormatInt(version, 10))
			if err := receive(message); err != nil {
				return err
			}
		}
	}
}

// partnerIsFirst: of two partners who may ask each other for a card, the lower seat decides first.
func partnerIsFirst(game *dog.Game, action dog.PossibleAction) bool {
	for _, choice := range action.Choices {
		for _, other := range game.Seats[:action.Seat] {
			if choice == dog.EXCHANGECHOICE_PASS && other.Team == game.Seats[action.Seat].Team &&
				other.GetExchange() == dog.EXCHANGESTATE_PENDING &&
				other.Kind == dog.SEATKIND_HUMAN && !other.Away && !other.StandIn {
				return true
			}
		}
	}
	return false
}

// newer stands for a card of a newer server.
const newer = dog.CARD_UNKNOWN_DEFAULT_OPEN_API

// choose returns a *dog.PlayRequest or, in the exchange, a *dog.SwapRequest.
func choose(api *dog.APIClient, game *dog.Game, action dog.PossibleAction) (any, error) {
	if action.Seat%2 == 0 {
		advice, _, err := api.PlayAPI.SuggestMove(ctx, game.Id).Level(dog.BOTLEVEL_GREEDY).Execute()
		if err != nil {
			return nil, err
		}
		for _, best := range advice.Suggestions {
			if best.SuggestedMove != nil {
				return &best.SuggestedMove.Request.Body, nil
			}
			// An empty one is of a newer server, and so is a card without a name.
			if best.SuggestedSwap != nil && best.SuggestedSwap.Request.Body.GetCard() != newer {
				return &best.SuggestedSwap.Request.Body, nil
			}
		}
	}
	if len(action.Choices) > 0 {
		swap := dog.NewSwapRequest()
		swap.SetPass(true)
		for _, choice := range action.Choices {
			for _, card := range game.Seats[action.Seat].Hand {
				if choice == dog.EXCHANGECHOICE_CARD && card != newer {
					swap = dog.NewSwapRequest()
					swap.SetCard(card)
				}
			}
		}
		return swap, nil
	}
	legal, _, err := api.PlayAPI.ListLegalMoves(ctx, game.Id).Execute()
	if err != nil {
		return nil, err
	}
	best := legal.Moves[0]
	for _, move := range legal.Moves {
		if move.Kind == dog.MOVEKIND_SEVEN || move.GetCard() == dog.CARD_JOKER {
			best = move
			break
		}
	}
	return dog.NewPlayRequest(best.Id), nil
}

// act does what a seat has to do now, if anything. Returns the version of the game after it.
func act(api *dog.APIClient, game *dog.Game) (version int64, err error) {
	for _, action := range game.Actions {
		var changed *dog.Changed
		switch action.Route {
		case dog.ACTIONROUTE_DEAL:
			changed, _, err = api.PlayAPI.DealCards(ctx, game.Id).Execute()
		case dog.ACTIONROUTE_SWAP, dog.ACTIONROUTE_PLAY:
			if partnerIsFirst(game, action) {
				continue
			}
			choice, err := choose(api, game, action)
			if err != nil {
				return 0, err
			}
			changed, err = send(api, game, choice)
			if err != nil {
				return 0, err
			}
		default: // of a newer server
			continue
		}
		if err != nil {
			return 0, err
		}
		return changed.Version, nil
	}
	return game.Version, nil
}

// send sends what was chosen.
func send(api *dog.APIClient, game *dog.Game, choice any) (changed *dog.Changed, err error) {
	switch choice := choice.(type) {
	case *dog.PlayRequest:
		choice.SetVersion(game.Version) // plays in this state of the game only
		changed, _, err = api.PlayAPI.PlayMove(ctx, game.Id).PlayRequest(*choice).Execute()
	case *dog.SwapRequest:
		changed, _, err = api.PlayAPI.SwapCards(ctx, game.Id).SwapRequest(*choice).Execute()
	}
	return changed, err
}

// late tells whether an action is refused because another came first; the stream will tell which.
func late(err error) bool {
	var refusal *dog.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		return false
	}
	problem, ok := refusal.Model().(dog.ProblemDetails)
	return ok && (problem.Status == 409 || problem.Status == 412)
}

// play joins a game and plays until it is over. Returns the team that has won.
func play(url, id, invitation, name string) (winner int32, err error) {
	request := dog.NewJoinRequest()
	request.SetInvitation(invitation)
	request.SetName(name)
	joined, _, err := connect(url, "").SeatsAPI.JoinGame(ctx, id).JoinRequest(*request).Execute()
	if err != nil {
		return 0, err
	}
	api := connect(url, joined.Token)
	var newest int64 // the newest version that an answer has told of
	err = follow(api, id, func(message dog.StreamMessage) error {
		var version int64
		var toAct []int32
		if message.Game != nil { // the first line, or the operator has restored a backup
			newest, toAct = 0, message.Game.ToAct
		} else {
			version, toAct = message.Change.Version, message.Change.ToAct
			for _, event := range message.Change.Events {
				if event.CardPlayed != nil && joined.Seat == 0 {
					fmt.Printf("seat %d plays %s\n", event.CardPlayed.Seat, event.CardPlayed.Move.Id)
				}
				if event.GameWon != nil {
					winner = event.GameWon.Team
				}
			}
		}
		for _, seat := range toAct {
			if seat != joined.Seat || version < newest {
				continue
			}
			game, _, err := api.GamesAPI.GetGame(ctx, id).Execute()
			if err != nil {
				return err
			}
			if newest, err = act(api, game); err != nil && !late(err) {
				return err
			}
		}
		return nil
	})
	return winner, err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	url, preset := "http://127.0.0.1:8080", "hausregeln"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if len(os.Args) > 2 {
		preset = os.Args[2]
	}
	rules := dog.NewRulesRequest()
	rules.SetPreset(dog.Preset(preset))
	names := []string{"Anna", "Beat", "Carla", "Dani"}
	open := dog.NewSeatRequest()
	open.SetKind(dog.SEATKIND_OPEN)
	body := dog.NewCreateGame()
	body.SetRules(*rules)
	body.SetSeats([]dog.SeatRequest{*open, *open, *open, *open})
	created, _, err := connect(url, "").GamesAPI.CreateGame(ctx).CreateGame(*body).Execute()
	check(err)
	winners := make(chan int32)
	for _, name := range names {
		go func(name string) {
			winner, err := play(url, created.Id, created.GetInvitation(), name)
			check(err)
			winners <- winner
		}(name)
	}
	winner := <-winners
	for range names[1:] {
		if <-winners != winner {
			log.Fatal("the seats disagree")
		}
	}
	fmt.Printf("team %d has won\n", winner)
}
