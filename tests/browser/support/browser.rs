//! One browser with a profile of its own.

use std::{
    fs,
    io::Cursor,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thirtyfour::{
    Capabilities, RequestData, SessionId, WebDriver, WebElement,
    common::command::FormatRequestData,
    error::{WebDriverErrorInner, WebDriverResult},
};
use tokio::runtime::{Builder, Runtime};
use ureq::http::Method;

use super::{
    Button, Look, TestGame, TestServer,
    driver::{Client, Driver, Places},
    http::SharedServer,
    proxy::{Between, start_proxy},
    scene::{NAMES, Situation},
};

/// How long a test waits for the page. Only a failing test waits that long.
const WAIT: Duration = Duration::from_secs(60);

/// How the page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The viewport, in CSS pixels.
    pub width: u32,
    pub height: u32,
    /// Pixels of the device per CSS pixel.
    pub scale: f64,
    pub dark: bool,
    /// Whether the reader wants no animations.
    pub reduced_motion: bool,
}

impl Form {
    /// A light page of this size.
    pub const fn sized(width: u32, height: u32) -> Form {
        Form {
            width,
            height,
            scale: 1.0,
            dark: false,
            reduced_motion: false,
        }
    }
}

impl Default for Form {
    fn default() -> Form {
        Form::sized(390, 844)
    }
}

/// A browser on the page of a server.
///
/// Dropping it closes it, and fails the test if the browser's console has a warning or an error
/// (uncaught exceptions are errors), or if the page sent a request to another host.
pub struct Browser {
    session: Option<WebDriver>,
    runtime: Runtime,
    /// The address of the server as this browser knows it.
    pub server: String,
    profile: PathBuf,
    expected: Mutex<Vec<String>>,
    /// The scripts that fill the storage of new pages.
    stored: Mutex<Vec<Value>>,
    // Dropped last, in this order.
    _places: Arc<Places>,
    _driver: Arc<Driver>,
}

/// The server that tests share, and a browser with the sizes of a phone.
pub fn open() -> (SharedServer, Browser) {
    let server = TestServer::shared();
    let browser = Browser::open(&server);
    (server, browser)
}

/// The same with a server of the test's own.
pub fn open_alone() -> (TestServer, Browser) {
    let server = TestServer::start();
    let browser = Browser::open(&server);
    (server, browser)
}

/// A browser that reaches the server through a proxy.
pub fn open_through(server: &TestServer, between: Arc<impl Between>) -> Browser {
    Browser::start_one(start_proxy(server, between))
}

impl Browser {
    pub fn open(server: &TestServer) -> Browser {
        Browser::start_one(server.url())
    }

    /// This many browsers, which know nothing of each other.
    pub fn open_many(server: &TestServer, count: usize) -> Vec<Browser> {
        let (driver, places) = (Driver::shared(), Arc::new(Places::wait(count)));
        let start = |_| Browser::start(server.url(), &driver, &places);
        (0..count).map(start).collect()
    }

    /// A browser that knows the server by this name.
    pub fn open_at(server: &TestServer, host: &str) -> Browser {
        Browser::start_one(server.url().replace("127.0.0.1", host))
    }

    /// A browser of somebody else, in addition to this one.
    pub fn another(&self) -> Browser {
        self.another_at(&self.server)
    }

    /// The same, if they know the server by this address.
    pub fn another_at(&self, server: &str) -> Browser {
        Browser::start(server.to_owned(), &self._driver, &self._places)
    }

    fn start_one(server: String) -> Browser {
        Browser::start(server, &Driver::shared(), &Arc::new(Places::wait(1)))
    }

    fn start(server: String, driver: &Arc<Driver>, places: &Arc<Places>) -> Browser {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let profile = driver.folder.join(number.to_string());
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let session = WebDriver::builder(driver.url.clone(), capabilities(&profile));
        let session = session.client(Client::new()).connect();
        let session = runtime.block_on(session).expect("a browser");
        let browser = Browser {
            session: Some(session),
            runtime,
            server,
            profile,
            expected: Mutex::default(),
            stored: Mutex::default(),
            _places: Arc::clone(places),
            _driver: Arc::clone(driver),
        };
        browser.show_as(Form::default());
        browser
    }

    /// Logs in to what is in front of the server, with a name and a password.
    pub fn log_in(&self, user: &str) {
        // That has no icon.
        self.expect_message(&["favicon.ico"]);
        let login = self.server.replacen("://", &format!("://{user}@"), 1);
        self.follow(&(login + "/healthz"));
    }

    /// Changes the size and the preferences.
    pub fn show_as(&self, form: Form) {
        let metrics = json!({
            "width": form.width, "height": form.height, "deviceScaleFactor": form.scale,
            "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if form.dark { "dark" } else { "light" };
        let motion = match form.reduced_motion {
            true => "reduce",
            false => "no-preference",
        };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Changes the size, and waits until the page is drawn in it.
    pub fn resize(&self, (width, height): (u32, u32)) {
        self.show_as(Form::sized(width, height));
        self.settle();
    }

    fn session(&self) -> &WebDriver {
        self.session.as_ref().expect("an open session")
    }

    /// The result of what WebDriver does.
    #[track_caller]
    fn done<T>(&self, what: &str, doing: impl Future<Output = WebDriverResult<T>>) -> T {
        let result = self.runtime.block_on(doing);
        result.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// Sends a command of WebDriver or chromedriver.
    pub fn command(&self, method: Method, path: &str, body: Value) -> Value {
        let command = RawCommand(method, path.to_owned(), body);
        let response = self.done(path, self.session().handle().cmd(command));
        response.value_json().expect("a value")
    }

    /// Sends a command of the DevTools protocol.
    pub fn devtools(&self, name: &str, parameters: Value) -> Value {
        let body = json!({"cmd": name, "params": parameters});
        self.command(Method::POST, "goog/cdp/execute", body)
    }

    /// Opens a path of the server in a new document.
    pub fn go(&self, path: &str) {
        self.follow(&(self.server.clone() + path));
    }

    /// Opens a link in a new document.
    pub fn follow(&self, link: &str) {
        for url in ["about:blank", link] {
            self.done(url, self.session().goto(url));
        }
    }

    pub fn reload(&self) {
        self.done("reload", self.session().refresh());
    }

    /// The part of the address after `#`.
    pub fn fragment(&self) -> String {
        let url = self.done("the address", self.session().current_url());
        url.fragment().unwrap_or_default().to_owned()
    }

    /// Runs a function body in the page.
    pub fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        let value = self.done(script, self.session().execute(script, arguments));
        value.json().clone()
    }

    /// The value of an expression in the page.
    pub fn eval(&self, expression: &str) -> Value {
        self.script(&format!("return {expression}"), vec![])
    }

    /// The same for a script that calls its last argument with the result.
    pub fn script_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        let value = self.done(script, self.session().execute_async(script, arguments));
        value.json().clone()
    }

    /// Remembers something under a key in the browser's storage, unless there is something already.
    /// The pages that are opened from now on find it there.
    pub fn store(&self, key: &str, value: &Value) {
        let (key, value) = (json!(key), json!(value.to_string()));
        let source = format!(
            "if (location.protocol === 'http:' && localStorage.getItem({key}) === null)
               localStorage.setItem({key}, {value});"
        );
        let script = self.prepare(&source);
        self.stored.lock().expect("the scripts").push(script);
    }

    /// Runs a script in the pages that are opened from now on, before their own.
    pub fn prepare(&self, script: &str) -> Value {
        let parameters = json!({"source": script});
        self.devtools("Page.addScriptToEvaluateOnNewDocument", parameters)
    }

    /// Has the pages that are opened from now on wait a tenth of the time.
    pub fn hurry(&self) {
        self.prepare(
            "{ const real = window.setTimeout;
               window.setTimeout = (then, wait, ...rest) => real(then, wait / 10, ...rest); }",
        );
    }

    /// Empties the browser's storage.
    pub fn forget_all(&self) {
        for script in self.stored.lock().expect("the scripts").drain(..) {
            self.devtools("Page.removeScriptToEvaluateOnNewDocument", script);
        }
        self.script("localStorage.clear()", vec![]);
    }

    /// Opens what has this summary.
    pub fn open_details(&self, summary: &str) {
        let script = "
            const summaries = [...document.querySelectorAll('summary')];
            const summary = summaries.find((one) => one.textContent === arguments[0]);
            summary.parentElement.open = true;
            summary.scrollIntoView();";
        self.script(script, vec![json!(summary)]);
    }

    /// Waits until nothing moves and everything is drawn.
    pub fn settle(&self) {
        let script = "
            const finite = document.getAnimations()
              .filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
            Promise.allSettled(finite.map((one) => one.finished))
              .then(() => requestAnimationFrame(() => setTimeout(arguments[0])));";
        self.script_async(script, vec![]);
    }

    /// Remembers the token of a seat, as the page does.
    pub fn remember(&self, game: &TestGame<'_>, seat: usize) {
        let saved = json!({
            "id": game.id, "seat": seat, "token": game.tokens[seat], "hostToken": game.host,
            "opened": 1_700_000_000_000_u64, "preset": "dogspiel-it",
            "names": NAMES[..game.seats()],
        });
        self.store(&format!("dog.game.{}", game.id), &saved);
    }

    /// Opens a game as the player of a seat, and waits for its board.
    pub fn sit(&self, game: &TestGame<'_>, seat: usize) {
        self.remember(game, seat);
        self.open_table(game);
    }

    /// The same with a game that nobody has seen.
    pub fn sit_at<'a>(&self, game: TestGame<'a>, seat: usize) -> TestGame<'a> {
        self.sit(&game, seat);
        game
    }

    /// The same with a situation of seat 0.
    pub fn sit_in<'a>(&self, scene: Situation<'a>) -> Situation<'a> {
        self.sit(&scene.game, 0);
        scene
    }

    /// Opens a game, and waits for its board.
    pub fn open_table(&self, game: &TestGame<'_>) {
        self.go(&format!("/?lang=en#/games/{}", game.id));
        self.wait("the table", |look| !look.todo.is_empty());
        self.wait_for_script("the board", "document.querySelector('.pieces .piece')");
    }

    /// What the player sees.
    pub fn look(&self) -> Look {
        let look = self.script(include_str!("look.js"), vec![]);
        serde_json::from_value(look).expect("a look")
    }

    /// Every piece on the board that is drawn: its seat and its place, sorted.
    pub fn pieces(&self) -> Vec<String> {
        let pieces = self.eval(
            "[...document.querySelectorAll('.pieces [data-seat][data-place]')]
               .map(({dataset}) => `${dataset.seat} ${dataset.place}`).sort()",
        );
        serde_json::from_value(pieces).expect("texts")
    }

    /// Waits until the player sees something.
    #[track_caller]
    pub fn wait(&self, what: &str, seen: impl Fn(&Look) -> bool) -> Look {
        let started = Instant::now();
        loop {
            let look = self.look();
            if seen(&look) {
                return look;
            }
            assert!(started.elapsed() < WAIT, "waited for {what}, saw {look:#?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until an expression of the page is true.
    #[track_caller]
    pub fn wait_for_script(&self, what: &str, expression: &str) {
        let started = Instant::now();
        while self.eval(&format!("Boolean({expression})")) != true {
            assert!(started.elapsed() < WAIT, "waited for {what}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the page has an element that fits a selector.
    #[track_caller]
    pub fn wait_for_element(&self, selector: &str) {
        let element = format!("document.querySelector({})", json!(selector));
        self.wait_for_script(selector, &element);
    }

    /// Waits for such an element, and has the page click on it.
    #[track_caller]
    pub fn click_on(&self, selector: &str) {
        self.wait_for_element(selector);
        let script = "document.querySelector(arguments[0]).click()";
        self.script(script, vec![json!(selector)]);
    }

    /// Clicks on a choice. Returns false if the page has changed and the choice is gone.
    #[track_caller]
    pub fn try_click(&self, choice: &Button) -> bool {
        let clicked = self.runtime.block_on(self.element(&choice.element).click());
        match clicked.map_err(thirtyfour::error::WebDriverError::into_inner) {
            Ok(()) => true,
            Err(WebDriverErrorInner::StaleElementReference(_)) => false,
            Err(error) => panic!("{:?}: {error}", choice.name),
        }
    }

    #[track_caller]
    pub fn click(&self, choice: &Button) {
        assert!(self.try_click(choice), "{:?} is gone", choice.name);
    }

    /// Clicks twice on the same spot, as fast as a double click.
    pub fn double_click(&self, choice: &Button) {
        let button = |kind: &str| json!({"type": kind, "button": 0});
        let (down, up) = (button("pointerDown"), button("pointerUp"));
        let to = json!({"type": "pointerMove", "x": 0, "y": 0, "origin": choice.element});
        self.act("pointer", json!([to, down, up, down, up]));
    }

    /// Waits for a button of this name outside of the groups, and clicks on it.
    #[track_caller]
    pub fn press(&self, button: &str) {
        let look = self.wait(button, |look| look.can(button));
        self.click(look.button(button).expect("the button"));
    }

    /// Waits for a button of this name anywhere on the page, and clicks on it.
    #[track_caller]
    pub fn press_anywhere(&self, name: &str) {
        self.done(name, self.named("button", name).click());
    }

    /// Waits for an element of this tag and name that is shown and can be used.
    #[track_caller]
    fn named(&self, tag: &str, name: &str) -> WebElement {
        let find = format!("({NAMED})({}, {})", json!(tag), json!(name));
        self.wait_for_script(name, &find);
        self.element(&self.eval(&find))
    }

    /// What is in the field with this label.
    pub fn value(&self, label: &str) -> String {
        let value = self.done(label, self.named("input", label).value());
        value.unwrap_or_default()
    }

    /// Types into the field with this label, in place of what is there.
    pub fn type_into(&self, label: &str, text: &str) {
        let field = self.named("input", label);
        self.done(label, field.clear());
        self.done(label, field.send_keys(text));
    }

    /// Waits until the page has these words.
    #[track_caller]
    pub fn wait_for_words(&self, words: &str) {
        let script = format!("document.body.innerText.includes({})", json!(words));
        self.wait_for_script(words, &script);
    }

    /// What a camera reads in the QR code with this name.
    #[track_caller]
    pub fn scan(&self, name: &str) -> String {
        let selector = format!("document.querySelector(`svg[aria-label=\"QR code: {name}\"]`)");
        self.wait_for_script(name, &selector);
        self.eval(&format!("{selector}.scrollIntoView({{ block: 'center' }})"));
        self.settle();
        let picture = self.done("a picture", self.session().screenshot_as_png());
        let (width, height, light) = grey(&picture);
        let level = |x: usize, y: usize| light[y * width + x];
        let mut picture = rqrr::PreparedImage::prepare_from_greyscale(width, height, level);
        let codes = picture.detect_grids();
        assert_eq!(codes.len(), 1, "QR codes in the picture");
        codes[0].decode().expect("a readable code").1
    }

    /// Waits for a card of the hand, and clicks on it.
    #[track_caller]
    pub fn choose_card(&self, card: &str) {
        let look = self.wait(card, |look| look.card(card).is_some());
        self.click(look.card(card).expect("the card"));
    }

    fn element(&self, reference: &Value) -> WebElement {
        let handle = Arc::clone(self.session().handle());
        WebElement::from_json(reference.clone(), handle).expect("an element")
    }

    /// Presses a key, which WebDriver may name by a code point.
    pub fn key(&self, key: char) {
        let [down, up] = ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key}));
        self.act("key", json!([down, up]));
    }

    /// Does something with a device, `pointer` or `key`.
    fn act(&self, device: &str, actions: Value) {
        let body = json!({"actions": [{"type": device, "id": device, "actions": actions}]});
        self.command(Method::POST, "actions", body);
    }

    /// The tab that commands go to.
    pub fn tab(&self) -> Value {
        self.command(Method::GET, "window", Value::Null)
    }

    /// Opens another tab, which commands go to from now on.
    pub fn open_tab(&self) -> Value {
        let tab = self.command(Method::POST, "window/new", json!({"type": "tab"}))["handle"].take();
        self.switch_to(&tab);
        tab
    }

    pub fn switch_to(&self, tab: &Value) {
        self.command(Method::POST, "window", json!({"handle": tab}));
    }

    /// Cuts the network, or joins it again.
    pub fn set_network(&self, online: bool) {
        let conditions = json!({
            "offline": !online, "latency": 0, "download_throughput": -1, "upload_throughput": -1,
        });
        let body = json!({"network_conditions": conditions});
        self.command(Method::POST, "chromium/network_conditions", body);
    }

    /// Says that a message of the console is to be expected: one that contains all these texts.
    pub fn expect_message(&self, texts: &[&str]) {
        let mut expected = self.expected.lock().expect("the expected messages");
        expected.push(texts.join("\n"));
    }

    /// What the console and the network must not show.
    fn complaints(&self) -> Vec<String> {
        let expected = self.expected.lock().expect("the expected messages");
        let fits = |text: &str, parts: &str| parts.split('\n').all(|part| text.contains(part));
        let is_expected = |text: &str| expected.iter().any(|parts| fits(text, parts));
        let log = |kind: &str| {
            let log = self.command(Method::POST, "se/log", json!({"type": kind}));
            serde_json::from_value::<Vec<Value>>(log).expect("a log")
        };
        let (console, network) = (log("browser"), log("performance"));
        let messages = console.iter().filter_map(|entry| {
            let text = entry["message"].as_str()?;
            let level = entry["level"].as_str()?;
            let bad = ["WARNING", "SEVERE"].contains(&level) && !is_expected(text);
            bad.then(|| format!("console: {level}: {text}"))
        });
        let requests = network.iter().filter_map(|entry| {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &event["message"];
            let url = event["params"]["request"]["url"].as_str()?;
            // With the name and the password of a login, it is the same host.
            let user = url
                .split_once('@')
                .and_then(|(before, _)| before.split("://").nth(1));
            let user = user
                .filter(|user| !user.contains('/'))
                .map(|user| format!("{user}@"));
            let url = &url.replacen(&user.unwrap_or_default(), "", 1);
            let own = url.strip_prefix(&self.server);
            let own = own.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            // A new tab of Chromium itself is a page too.
            let document = event["params"]["documentURL"].as_str()?;
            let from_page = document.starts_with("http");
            let has_host = !["blob:", "data:"].iter().any(|kind| url.starts_with(kind));
            let sent = event["method"] == "Network.requestWillBeSent";
            (sent && from_page && has_host && !own)
                .then(|| format!("a request to another host: {url}"))
        });
        messages.chain(requests).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let complaints = if thread::panicking() {
            if let Some(folder) = option_env!("CARGO_TARGET_TMPDIR") {
                let name = thread::current().name().unwrap_or("test").replace(':', "-");
                let path = PathBuf::from(folder).join(name + ".png");
                if let Ok(picture) = self.runtime.block_on(self.session().screenshot_as_png()) {
                    let _ = fs::write(&path, picture);
                    eprintln!("the page when the test failed: {}", path.display());
                }
            }
            Vec::new()
        } else {
            self.complaints()
        };
        if let Some(session) = self.session.take() {
            let _ = self.runtime.block_on(session.quit());
        }
        let _ = fs::remove_dir_all(&self.profile);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

/// Finds an element that is shown and can be used, by the name of its tag and its accessible name.
const NAMED: &str = "(tag, name) => [...document.querySelectorAll(tag)].find((one) => {
  const label = one.getAttribute('aria-label') ?? one.labels?.[0]?.childNodes[0].textContent ?? one.textContent;
  return !one.disabled && one.checkVisibility() && label.trim().replace(/\\s+/g, ' ') === name;
})";

/// Width, height and the light of each pixel of a PNG.
fn grey(png: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let frame = reader.next_frame(&mut pixels).expect("a picture");
    let channels = frame.color_type.samples();
    let light = pixels[..frame.buffer_size()].chunks(channels);
    let light = light.map(|pixel| pixel[pixel.len().min(2) - 1]).collect();
    (frame.width as usize, frame.height as usize, light)
}

/// A command that is not one of the library's: its method, path and body.
#[derive(Debug)]
struct RawCommand(Method, String, Value);

impl FormatRequestData for RawCommand {
    fn format_request(&self, session: &SessionId) -> RequestData {
        let RawCommand(method, path, body) = self;
        let request = RequestData::new(method.clone(), format!("session/{session}/{path}"));
        match *method {
            Method::GET => request,
            _ => request.add_body(body.clone()),
        }
    }
}

const ARGUMENTS: &str = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --disable-background-networking --disable-component-update --disable-default-apps \
    --disable-sync --no-first-run --no-proxy-server --mute-audio --hide-scrollbars \
    --force-color-profile=srgb --window-size=1440,900";

fn capabilities(profile: &std::path::Path) -> Capabilities {
    let profile = format!("--user-data-dir={}", profile.display());
    // A name in a home network. Pages of hosts other than this machine are not secure contexts.
    let name = "--host-resolver-rules=MAP dog.home 127.0.0.1";
    let arguments = ARGUMENTS.split_whitespace().chain([name, &profile]);
    let capabilities = json!({
        "browserName": "chrome",
        "timeouts": {"script": 120_000},
        "goog:chromeOptions": {
            "args": arguments.collect::<Vec<_>>(),
            "perfLoggingPrefs": {"enableNetwork": true, "enablePage": false},
        },
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    });
    serde_json::from_value(capabilities).expect("capabilities")
}
