//! The table of errors: each code with its status, log level and meaning, and its reasons. It also
//! feeds the OpenAPI document and `docs/errors.md`.

use actix_web::http::StatusCode;
use log::Level;
use serde::Serialize;
use utoipa::ToSchema;

macro_rules! table {
    ($($code:ident $name:tt $status:ident $level:ident $title:literal $meaning:literal
       $({ $($reason:ident $reason_name:tt $reason_meaning:literal;)+ })?;)+) => {
        /// The stable code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $name)] $code,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$code),+];

            /// The code as a client sees it.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$code => $name),+ }
            }

            /// The HTTP status it comes with.
            pub const fn status(self) -> StatusCode {
                match self { $(Code::$code => StatusCode::$status),+ }
            }

            /// The log level: a mistake of a client is never logged as an error.
            pub const fn level(self) -> Level {
                match self { $(Code::$code => Level::$level),+ }
            }

            /// A short summary, the same whenever it occurs.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$code => $title),+ }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$code => $meaning),+ }
            }

            const fn own_reasons(self) -> &'static [Reason] {
                match self { $(Code::$code => &[$($(Reason::$reason),+)?]),+ }
            }
        }

        /// Why an error occurred, where its code alone does not say it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
        pub enum Reason {
            $($($(#[doc = $reason_meaning] #[serde(rename = $reason_name)] $reason,)+)?)+
        }

        impl Reason {
            /// The reason as a client sees it.
            pub const fn name(self) -> &'static str {
                match self { $($($(Reason::$reason => $reason_name,)+)?)+ }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $($($(Reason::$reason => $reason_meaning,)+)?)+ }
            }
        }
    };
}

table! {
    BadRequest "bad_request" BAD_REQUEST Debug "Bad request"
        "The head of the request cannot be read, the body breaks off or is framed wrongly, the Host is \
         no host, the If-Match or If-None-Match header is malformed, or there are two Authorization \
         or two Dog-Token headers.";
    MalformedJson "malformed_json" BAD_REQUEST Debug "Malformed JSON"
        "The body is not JSON, or not UTF-8.";
    InvalidIdempotencyKey "invalid_idempotency_key" BAD_REQUEST Debug "Invalid idempotency key"
        "The Idempotency-Key is empty, longer than 255 characters, or not visible ASCII.";
    Unauthorized "unauthorized" UNAUTHORIZED Debug "Unauthorized"
        "The route needs a token and none was sent, or the token does not belong to this game." {
        NoToken "no_token" "No token was sent, or it was not sent as a bearer token.";
        UnknownToken "unknown_token" "The token does not belong to this game.";
        InvalidTicket "invalid_ticket" "The ticket does not belong to this game, was used before, or has expired.";
    };
    TokenReplaced "token_replaced" UNAUTHORIZED Debug "Token replaced"
        "The token was valid once. It was renewed, or the seat was opened or given up.";
    Forbidden "forbidden" FORBIDDEN Debug "Forbidden"
        "The token is valid, but its holder may not do this. For example, a host plays no cards, \
         and a seat cannot remove the game." {
        HostOnly "host_only" "Only the host may do this.";
        OperatorOnly "operator_only" "Only the operator may do this.";
        SeatOnly "seat_only" "Only a seat may do this. The host has no cards.";
        AnotherSeat "another_seat" "Only the host and the seat itself may do this.";
        BotPlays "bot_plays" "A bot plays the seat `seat` until its person is back.";
        StandInPlays "stand_in_plays" "A bot plays the seat `seat` until the next deal, because this hand was dealt to somebody else.";
        ReactionsOff "reactions_off" "The host has switched reactions off.";
        SeatJoined "seat_joined" "Only the person at the seat `seat` may do this, not the host.";
    };
    MatchRunning "match_running" FORBIDDEN Debug "Match running"
        "The game is a table of a match. From its first deal until both tables of its pair have \
         ended, only its own seats see it, and nobody else takes them.";
    InvitationNeeded "invitation_needed" FORBIDDEN Debug "Invitation needed"
        "The game, or the seat, is joined by invitation.";
    WrongInvitation "wrong_invitation" FORBIDDEN Debug "Wrong invitation"
        "The text is not an invitation for this game or for the seat that the body names, or it is \
         no longer valid.";
    OriginNotAllowed "origin_not_allowed" FORBIDDEN Debug "Origin not allowed"
        "The request writes and comes from a page of another site, which the operator has not \
         allowed with --cors-origins.";
    KeyRequired "key_required" FORBIDDEN Debug "Key required"
        "The operator lets only those create games, and ask for advice, who send a key in the header Dog-Key.";
    Blocked "blocked" FORBIDDEN Debug "Blocked"
        "The operator has blocked the address: no games can be created, imported or joined from it.";
    RouteNotFound "route_not_found" NOT_FOUND Debug "No such route"
        "There is no route with this path.";
    GameNotFound "game_not_found" NOT_FOUND Debug "No such game"
        "No game has this id, or it was removed.";
    MatchNotFound "match_not_found" NOT_FOUND Debug "No such match"
        "No match has this id, or all its tables were removed.";
    PuzzleNotFound "puzzle_not_found" NOT_FOUND Debug "No such puzzle"
        "There is no puzzle with this number.";
    NoRematch "no_rematch" NOT_FOUND Debug "No rematch"
        "Nobody has asked for a rematch of this game.";
    ReviewNotFound "review_not_found" NOT_FOUND Debug "No review"
        "Nobody has asked for a review of this game.";
    SeatNotFound "seat_not_found" NOT_FOUND Debug "No such seat"
        "The game has no seat of this number.";
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED Debug "Method not allowed"
        "The path exists, but not for this method. The Allow header lists its methods.";
    NotAcceptable "not_acceptable" NOT_ACCEPTABLE Debug "Not acceptable"
        "The response is not available in a media type or an encoding that the request accepts.";
    RequestTimeout "request_timeout" REQUEST_TIMEOUT Debug "Request timeout"
        "The request took too long to arrive.";
    GameOver "game_over" CONFLICT Debug "The game is over"
        "A team has won, and the game no longer changes.";
    WrongPhase "wrong_phase" CONFLICT Debug "Wrong phase"
        "This action is not possible in the present phase of the game.";
    NotYourTurn "not_your_turn" CONFLICT Debug "Not your turn"
        "Another seat is to act, or this seat has already acted." {
        AnotherSeatMoves "another_seat_moves" "The seat `seat` is to move.";
        AnotherSeatDeals "another_seat_deals" "The seat `seat` is to deal.";
        AlreadyAnswered "already_answered" "The seat `seat` has already answered in this exchange.";
        PartnerAsked "partner_asked" "The seat `seat` has asked for help: its partner gives a card or declines.";
        PartnerAnswers "partner_answers" "The seat `seat` was asked for help and is to answer.";
        ExchangeDone "exchange_done" "The seat `seat` and its partner have finished the exchange.";
    };
    GameNotOver "game_not_over" CONFLICT Debug "The game is not over"
        "This is possible once a team has won.";
    SeatsOpen "seats_open" CONFLICT Debug "Seats are open"
        "A seat is open, or a person has not asked for the rematch, so nobody can deal. The host \
         need not wait for people who do not ask, once one has asked.";
    SeatTaken "seat_taken" CONFLICT Debug "Seat taken"
        "The seat `seat` is not open.";
    NoOpenSeat "no_open_seat" CONFLICT Debug "No open seat"
        "No seat is open that this request could take.";
    NoHuman "no_human" CONFLICT Debug "No human plays the seat"
        "A bot plays the seat, so it gets no token. The host must hand it to a human first.";
    TooManyVersions "too_many_versions" CONFLICT Debug "Too many versions"
        "The game has reached 50,000 versions by play, the maximum. It can be read and removed, but \
         not changed. A review takes 10,000 at most.";
    StaleVersion "stale_version" PRECONDITION_FAILED Debug "Stale version"
        "The game is no longer at the version that If-Match or the body names, or at one that \
         If-None-Match excludes.";
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE Debug "Body too large"
        "The body is larger than 64 KiB, or with a record larger than 1,152 KiB. A record of more \
         than 1 MiB is an `invalid_record`.";
    UriTooLong "uri_too_long" URI_TOO_LONG Debug "URI too long"
        "The path with its query is longer than 8 KiB.";
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE Debug "Unsupported media type"
        "A body must be sent as application/json, a record also as text/plain, without a content \
         encoding.";
    InvalidRequest "invalid_request" UNPROCESSABLE_ENTITY Debug "Invalid request"
        "The JSON or the query is well formed, but a field is missing, unknown or of the wrong \
         type." {
        UnknownMember "unknown_member" "There is no member or parameter of this name.";
        Missing "missing" "A member is missing.";
        Duplicate "duplicate" "A member or parameter is sent twice.";
        WrongValue "wrong_value" "A value has the wrong type, is out of range, or is not one of those allowed.";
        WrongCombination "wrong_combination" "Members or parameters do not go together.";
    };
    InvalidRules "invalid_rules" UNPROCESSABLE_ENTITY Debug "Invalid rules"
        "The preset or an option is unknown, out of range, or contradicts another.";
    InvalidBoard "invalid_board" UNPROCESSABLE_ENTITY Debug "Invalid board"
        "The board is impossible: two pieces on one field, more than four pieces of a seat, a \
         field off the board, or `fresh` without a piece on the start." {
        WrongSeats "wrong_seats" "The board has another number of entries than the rules have seats.";
        WrongPieces "wrong_pieces" "The seat `seat` does not have four pieces.";
        NoSuchField "no_such_field" "The seat `seat` has a piece on a field that the board does not have.";
        FieldTwice "field_twice" "Two pieces are on the field `place`.";
        NoFreshPiece "no_fresh_piece" "The seat `seat` has no piece on its start that could be fresh.";
        NotAPlace "not_a_place" "A part of the text `position` is not a place; `character` says where.";
    };
    InvalidHand "invalid_hand" UNPROCESSABLE_ENTITY Debug "Invalid hand"
        "The hand is empty, or contains more of a card than the deck." {
        EmptyHand "empty_hand" "The hand is empty.";
        MoreThanDeck "more_than_deck" "The hand has more of `card` than the deck.";
    };
    InvalidKnowledge "invalid_knowledge" UNPROCESSABLE_ENTITY Debug "Invalid knowledge"
        "`known` contradicts itself, the hand or the deck.";
    FinishedPosition "finished_position" UNPROCESSABLE_ENTITY Debug "Finished position"
        "A team has all its pieces in its goals, so there is nothing to analyse.";
    UnknownCard "unknown_card" UNPROCESSABLE_ENTITY Debug "Unknown card"
        "There is no card of that name.";
    CardNotInHand "card_not_in_hand" UNPROCESSABLE_ENTITY Debug "Card not in hand"
        "The card to give to the partner is not in the hand.";
    IllegalMove "illegal_move" UNPROCESSABLE_ENTITY Debug "Illegal move"
        "The rules do not allow the move. The detail says why." {
        NotAMove "not_a_move" "The text is not a move id.";
        NotInHand "not_in_hand" "The card `card` is not in the hand.";
        MustBePlayed "must_be_played" "A card in the hand can be played, so the hand cannot be folded.";
        Blocked "blocked" "The piece of `seat` on the field `place` blocks the way.";
        GoalOccupied "goal_occupied" "A piece is on the goal field `place`, and no piece lands on or passes it.";
        BeyondGoal "beyond_goal" "The steps lead beyond the innermost field of the goal.";
        FreshPiece "fresh_piece" "A fresh piece must leave its start before it may enter the goal.";
        NotOverStart "not_over_start" "A piece that walks back enters the goal only over its own start.";
        NoBackwardEntry "no_backward_entry" "By these rules no piece walks back into the goal.";
        NoSuchPlace "no_such_place" "The board has no field `place`.";
        NoSuchPiece "no_such_piece" "No piece is on `place`.";
        CapturedBefore "captured_before" "An earlier part of the seven captured the piece on `place`.";
        NotThePiece "not_the_piece" "The piece on `place` belongs to `seat`, and this move takes another seat's.";
        KennelEmpty "kennel_empty" "The kennel of `seat` is empty.";
        ForeignGoal "foreign_goal" "A piece enters only its own goal.";
        LeavesGoal "leaves_goal" "No piece leaves the goal or moves backward in it.";
        WrongSteps "wrong_steps" "The card `card` does not take a piece that far.";
        SwapWithItself "swap_with_itself" "The two pieces of a swap are on two fields.";
        SwapOwnPair "swap_own_pair" "By these rules a jack does not swap two pieces of one seat.";
        SwapProtected "swap_protected" "The piece of `seat` on `place` cannot be swapped.";
        NoEffectRefused "no_effect_refused" "By these rules a jack is not played without effect.";
        NoPieceOnRing "no_piece_on_ring" "The move needs a piece of `seat` on the ring, and there is none.";
        SwapPossible "swap_possible" "By these rules a jack is played without effect only if `seat` can swap no piece.";
        OtherPieceOnRing "other_piece_on_ring" "A jack is played without effect only if no other seat has a piece on the ring.";
        PartSteps "part_steps" "A part of a seven takes 1 to 7 steps forward.";
        LandingOccupied "landing_occupied" "By these rules a part of a seven ends on a free field, and `place` is not.";
        OwnPiece "own_piece" "By these rules no piece ends on another of its own seat, as on `place`.";
        OnePieceOnly "one_piece_only" "By these rules one of the partner's pieces takes the rest of this seven, the one on `place`.";
        TotalSteps "total_steps" "The parts of a seven do not add up to 7 steps, or no further parts complete a begun seven.";
    };
    IllegalExchange "illegal_exchange" UNPROCESSABLE_ENTITY Debug "Illegal exchange"
        "The exchange does not allow this at all, or not now. `choices` says what a seat may do." {
        ExchangeMandatory "exchange_mandatory" "By these rules each seat gives a card.";
        AlreadyAsked "already_asked" "The seat `seat` has already asked.";
        NotAsked "not_asked" "The partner has not asked for help: a seat asks or passes.";
        MustOffer "must_offer" "The partner has promised a card, so the seat that asked gives one.";
        NoPass "no_pass" "By these rules no seat passes in the exchange.";
    };
    InvalidSeed "invalid_seed" UNPROCESSABLE_ENTITY Debug "Invalid shuffle seed"
        "A shuffle seed is 64 hex digits.";
    InvalidRecord "invalid_record" UNPROCESSABLE_ENTITY Debug "Invalid record"
        "The text is not a record, or its game is not over or breaks the rules. The detail names \
         the line and says why.";
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY Debug "Idempotency key reused"
        "The Idempotency-Key was used before with another body. Bodies are compared byte by byte, \
         blanks included.";
    WeakIdempotencyKey "weak_idempotency_key" UNPROCESSABLE_ENTITY Debug "Weak idempotency key"
        "Where the response contains a secret, the Idempotency-Key must carry 128 random bits or \
         more.";
    TooManyRequests "too_many_requests" TOO_MANY_REQUESTS Debug "Too many requests"
        "Rate limit exceeded for the address or the token. Try again after Retry-After seconds.";
    TooManyChanges "too_many_changes" TOO_MANY_REQUESTS Debug "Too many changes"
        "Limit exceeded for changes that are not play: 100 by the host, and one more for every 4 \
         versions by play; 50 by the person at each seat, and one more for every 16; 100,000 in all.";
    TooManyStreams "too_many_streams" TOO_MANY_REQUESTS Debug "Too many streams"
        "The address has as many streams and waiting requests open as it may, or as it may without \
         tokens of the games. Try again after Retry-After seconds; those that are open go on.";
    HeadersTooLarge "headers_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE Debug "Headers too large"
        "There are more than 64 headers, or more than 16 KiB of them.";
    Internal "internal" INTERNAL_SERVER_ERROR Error "Internal error"
        "The server failed, and nothing was changed. Its log has more under the request id.";
    DatabaseFull "database_full" INSUFFICIENT_STORAGE Warn "Database full"
        "The database or its disk is nearly full, so new games are refused, or it is full, so all \
         writes but removals are. Nothing was changed.";
    Unavailable "unavailable" SERVICE_UNAVAILABLE Warn "Unavailable"
        "The server cannot do this at present: it is overloaded, or the database cannot be reached \
         or written. Try again after Retry-After seconds.";
}

impl Code {
    /// The `type` of its problem documents, which leads to what the guide says of it.
    pub fn type_reference(self) -> String {
        format!("/docs/guide/errors#{}", self.name())
    }

    /// The reasons that an error of this code may give.
    pub const fn reasons(self) -> &'static [Reason] {
        match self {
            // The rules are a part of a body.
            Code::InvalidRules => Code::InvalidRequest.own_reasons(),
            code => code.own_reasons(),
        }
    }
}
