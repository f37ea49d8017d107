//! Every screen of the page, one after another.

use serde_json::{Value, json};

use super::{
    Browser, Evening, Form, LANGUAGES, Situation, Style, TestGame, TestServer, choose_part,
    choose_piece, deal_to_people, has_three_parts, is_swap, italian, parts, text, wait_for_offers,
};

/// Games that show every screen. Nothing is played in them.
pub struct Screens<'a> {
    exchange: TestGame<'a>,
    optional_exchange: TestGame<'a>,
    /// Exchanges on request: nobody has asked, the partner has, and the partner gives.
    on_request: [TestGame<'a>; 3],
    seven: Situation<'a>,
    joker: Situation<'a>,
    jack: Situation<'a>,
    fold: Situation<'a>,
    partner: Situation<'a>,
    six_seats: Situation<'a>,
    finished: TestGame<'a>,
    evening: Evening<'a>,
}

/// Names of groups.
type InSight = &'static [&'static str];

const TABLE: InSight = &["Your hand", "Board"];

/// Where the visitor is.
pub struct Visit<'a> {
    pub name: &'static str,
    pub form: Form,
    /// The groups that must be within reach, because the player chooses something there.
    pub in_sight: InSight,
    pub browser: &'a Browser,
}

fn captures_partner(one: &Value) -> bool {
    let mut captures = one["captures"].as_array().expect("captures").iter();
    one["kind"] == "advance" && captures.any(|capture| capture["seat"] == 2)
}

impl<'a> Screens<'a> {
    pub fn new(server: &'a TestServer) -> Screens<'a> {
        let find = |number, wanted: fn(&[Value]) -> bool| {
            let wanted = |_: &Value, moves: &[Value]| wanted(moves);
            Situation::find(server, &italian(), number, Style::FirstSeat, wanted)
        };
        let optional = json!({"preset": "hausregeln", "exchange": "optional"});
        let house = json!({"preset": "hausregeln"});
        let on_request = [1, 2, 3].map(|number| deal_to_people(server, &house, number));
        on_request[1].swap(2, &json!({"ask": true}));
        on_request[2].swap(0, &json!({"ask": true}));
        on_request[2].offer(2);
        let six = json!({"preset": "hausregeln", "seats": 6});
        Screens {
            exchange: deal_to_people(server, &italian(), 1),
            optional_exchange: deal_to_people(server, &optional, 1),
            on_request,
            seven: Situation::with_move(server, 1, has_three_parts),
            joker: find(7, |moves| {
                moves.iter().any(|one| one["as"] == "9") && moves.len() > 15
            }),
            jack: find(5, |moves| {
                moves.iter().filter(|one| is_swap(one)).count() > 5
            }),
            fold: Situation::with_move(server, 1, |one| one["kind"] == "fold"),
            partner: Situation::with_move(server, 8, captures_partner),
            six_seats: Situation::find(server, &six, 3, Style::Greedy, |view, moves| {
                view["version"].as_u64() > Some(90) && moves.len() > 6
            }),
            finished: TestGame::imported(server),
            evening: Evening::new(server),
        }
    }

    /// Goes through the screens and shows each to the visitor.
    pub fn visit(&self, browser: &Browser, form: Form, visitor: impl Fn(&Visit<'_>)) {
        browser.show_as(form);
        browser.expect_message(&["ERR_INTERNET_DISCONNECTED"]);
        let show = |name, in_sight: InSight| {
            browser.settle();
            visitor(&Visit {
                name,
                form,
                in_sight,
                browser,
            });
        };
        browser.remember(&self.exchange, 0);
        browser.remember(&self.seven.game, 0);
        browser.go("/?lang=en");
        browser.wait("the home screen", |look| look.can("Play against bots"));
        browser.wait_for_words("your turn");
        browser.eval("scrollTo(0, 0)");
        show("home", &[]);
        browser.open_details("More");
        let says =
            "document.querySelector('.chips [name=exchange] option')?.textContent.includes('(')";
        browser.wait_for_script("what the sheet says", says);
        show("home-more", &[]);

        browser.sit(&self.exchange, 0);
        browser.choose_card(&self.exchange.hand(0)[0]);
        browser.wait("Give", |look| look.can("Give"));
        show("exchange", TABLE);
        browser.sit(&self.optional_exchange, 0);
        browser.wait("Decline", |look| look.can("Decline"));
        show("exchange-optional", TABLE);
        let [open, asked, promised] = &self.on_request;
        browser.sit(open, 0);
        browser.wait("the question", |look| look.can("No help needed"));
        show("exchange-on-request", TABLE);
        browser.sit(asked, 0);
        browser.wait("the partner", |look| look.can("Do not help"));
        show("exchange-asked", TABLE);
        browser.sit(promised, 0);
        browser.wait_for_todo("gives you a card");
        show("exchange-promised", TABLE);

        self.visit_seven(browser, &show);

        browser.sit(&self.joker.game, 0);
        browser.choose_card("joker");
        browser.wait("the ranks", |look| !look.ranks.is_empty());
        show("joker", TABLE);
        browser.press("Hint");
        browser.wait("suggestions", |look| !look.advice.is_empty());
        show("hint", &["Board", "Your hand"]);
        let look = browser.look();
        browser.click(&look.advice[0]);
        browser.wait_for_element(".hinted strong");
        if browser.look().can("Why") {
            browser.press("Why");
        }
        show("hint-reasons", &["Board", "Your hand"]);
        browser.open_details("All moves");
        show("all-moves", &[]);

        browser.sit(&self.jack.game, 0);
        browser.choose_card("J");
        choose_piece(browser, &parts(self.jack.find_move(is_swap))[0]);
        // The pointer previews the choice.
        let place = "document.querySelector('[aria-label=Board] button')";
        let hover = format!("{place}.dispatchEvent(new PointerEvent('pointerenter'))");
        browser.eval(&hover);
        show("jack", TABLE);

        browser.sit(&self.fold.game, 0);
        browser.wait("Fold", |look| look.can("Fold"));
        show("fold", TABLE);
        browser.press("Fold");
        browser.wait("the question", |look| look.can("Cancel"));
        show("fold-question", TABLE);

        let capture = self.partner.find_move(captures_partner);
        browser.sit(&self.partner.game, 0);
        browser.choose_card(text(&capture["card"]));
        choose_part(browser, &parts(capture)[0]);
        browser.wait("the question", |look| look.can("Cancel"));
        show("partner-question", TABLE);

        browser.sit(&self.six_seats.game, 0);
        show("six-seats", TABLE);

        browser.go("/?lang=en#/analyse?position=0f,9,g2/17,30/40,12,g0/47,60&hand=7,K,J,4,9&gave=2&received=K");
        browser.press("Advice");
        browser.wait("suggestions", |look| !look.advice.is_empty());
        show("analyse", &[]);
        browser.go("/?lang=en#/analyse?rules=hausregeln seats=6&position=0f/17/40/47/60/80&hand=7,K&played=2:K,3:fold.7.8");
        let fields = "document.querySelectorAll('.place.free').length === 90 + 24 + 6";
        browser.wait_for_script("the board", fields);
        browser.open_details("What was exchanged and played");
        show("analyse-six-seats", &[]);

        browser.go("/?lang=en#/learn");
        browser.wait_for_words("lessons solved.");
        show("course", &[]);
        browser.go("/?lang=en#/learn/5");
        browser.choose_card("7");
        wait_for_offers(browser);
        show("lesson", &["Your hand"]);
        browser.go("/?lang=en#/puzzles/1");
        browser.choose_card("4");
        wait_for_offers(browser);
        show("puzzle", &["Your hand"]);
        browser.choose_place("60");
        browser.wait("the answer", |look| !look.advice.is_empty());
        browser.press_anywhere("Share");
        browser.wait_for_element(".share .qr");
        show("puzzle-answer", &[]);
        browser.go("/?lang=en#/puzzles");
        browser.wait_for_element(".numbers a");
        show("puzzles", &[]);
        browser.open_table(&self.jack.game);
        browser.press("Rules");
        browser.wait_for_element("dialog .ghost");
        browser.wait_for_element("dialog table");
        show("rules", &[]);

        browser.open_table(&self.jack.game);
        browser.set_network(false);
        browser.wait("the message", |look| !look.alerts.is_empty());
        show("lost", TABLE);
        browser.set_network(true);
        browser.wait("the end of the message", |look| look.alerts.is_empty());

        self.visit_others(browser, &show);
        browser.forget_all();
        self.evening.visit(browser, "en", &|name| show(name, &[]));
    }

    /// The screens with people in the other languages.
    pub fn visit_in_other_languages(
        &self,
        browser: &Browser,
        form: Form,
        visitor: impl Fn(&Visit<'_>),
    ) {
        browser.show_as(form);
        for language in &LANGUAGES[1..] {
            self.evening.visit(browser, language, &|name| {
                browser.settle();
                visitor(&Visit {
                    name,
                    form,
                    in_sight: &[],
                    browser,
                });
            });
        }
    }

    fn visit_seven(&self, browser: &Browser, show: &impl Fn(&'static str, InSight)) {
        let wanted = parts(self.seven.find_move(has_three_parts));
        browser.sit(&self.seven.game, 0);
        browser.wait("the hand", |look| look.card("7").is_some());
        show("card", TABLE);
        browser.choose_card("7");
        wait_for_offers(browser);
        show("piece", TABLE);
        choose_piece(browser, &wanted[0]);
        show("target", TABLE);
        choose_part(browser, &wanted[0]);
        browser.wait("the next part", |look| look.can("Start over"));
        wait_for_offers(browser);
        show("seven", TABLE);
        for part in &wanted[1..] {
            choose_part(browser, part);
        }
        browser.wait("Play", |look| look.can("Play"));
        show("seven-complete", TABLE);
    }

    /// Screens of somebody without a seat.
    fn visit_others(&self, browser: &Browser, show: &impl Fn(&'static str, InSight)) {
        browser.forget_all();
        browser.open_table(&self.jack.game);
        browser.wait_for_words("You are watching.");
        show("watching", &[]);
        browser.go(&format!("/?lang=en#/games/{}", self.finished.id));
        browser.wait("the end", |look| look.team.is_some());
        show("finished", &[]);
        browser.press("More");
        browser.press("Check the shuffle");
        browser.wait_for_alert("✓");
        show("fair", &[]);
        // Nobody has asked for it before.
        browser.expect_message(&["/review", "404"]);
        browser.press("Review");
        browser.wait_for_words("Every decision of the game was looked at.");
        browser.click_on(".review .advice button");
        browser.wait_for_element(".review .reasons");
        browser.eval("document.querySelector('.review h3').scrollIntoView()");
        show("review", &[]);
        browser.press("Replay");
        browser.wait_for_element("input[type=range]");
        browser.script(
            "const slider = document.querySelector('input[type=range]');
             slider.value = 90;
             slider.dispatchEvent(new Event('input', { bubbles: true }));",
            vec![],
        );
        show("replay", &[]);
    }
}
