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

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use thirtyfour::{
    Capabilities, RequestData, SessionId, WebDriver, WebElement,
    common::command::FormatRequestData, error::WebDriverErrorInner,
};
use tokio::runtime::{Builder, Runtime};
use ureq::http::Method;

use super::{
    Button, Look, TestGame, TestServer,
    driver::{Client, Driver, Places},
    scene::NAMES,
};

/// How long a test waits for the page. Only a failing test waits that long.
const WAIT: Duration = Duration::from_secs(60);

/// How the page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Width and height of the viewport in CSS pixels.
    pub size: (u32, u32),
    /// Pixels of the device per CSS pixel.
    pub scale: f64,
    pub dark: bool,
    /// Whether the reader wants no animations.
    pub reduced_motion: bool,
}

impl Default for Form {
    fn default() -> Form {
        Form {
            size: (390, 844),
            scale: 1.0,
            dark: false,
            reduced_motion: false,
        }
    }
}

/// A browser on the page of a server.
///
/// Dropping it closes it, and fails the test if the browser's console has a warning or an error
/// (uncaught exceptions are errors), or if the page sent a request to another host.
pub struct Browser {
    session: Option<WebDriver>,
    runtime: Runtime,
    server: String,
    form: Form,
    profile: PathBuf,
    expected: Mutex<Vec<String>>,
    /// The scripts that fill the storage of new pages.
    stored: Mutex<Vec<Value>>,
    // Dropped last, in this order.
    _places: Arc<Places>,
    _driver: Arc<Driver>,
}

impl Browser {
    /// A browser with the sizes of a phone; `None`, with a message, on a machine that has none.
    pub fn open(server: &TestServer) -> Option<Browser> {
        Browser::open_with(server, Form::default())
    }

    pub fn open_with(server: &TestServer, options: Form) -> Option<Browser> {
        Browser::open_many(server, 1, options)?.pop()
    }

    /// So many browsers, which know nothing of each other.
    pub fn open_many(server: &TestServer, count: usize, options: Form) -> Option<Vec<Browser>> {
        let driver = Driver::shared()?;
        let places = Arc::new(Places::wait(count));
        let open = |_| Browser::start(server.url(), options, &driver, &places);
        Some((0..count).map(open).collect())
    }

    /// A browser that knows the server by this name.
    pub fn open_at(server: &TestServer, host: &str) -> Option<Browser> {
        let driver = Driver::shared()?;
        let url = server.url().replace("127.0.0.1", host);
        let places = Arc::new(Places::wait(1));
        Some(Browser::start(url, Form::default(), &driver, &places))
    }

    /// A browser of somebody else, in addition to this one.
    pub fn another(&self) -> Browser {
        self.another_at(&self.server)
    }

    /// The same, if they know the server by this address.
    pub fn another_at(&self, server: &str) -> Browser {
        Browser::start(server.to_owned(), self.form, &self._driver, &self._places)
    }

    fn start(server: String, options: Form, driver: &Arc<Driver>, places: &Arc<Places>) -> Browser {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let profile = driver.folder.join(number.to_string());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let session = WebDriver::builder(driver.url.clone(), capabilities(&profile))
            .client(Client::new())
            .connect();
        let session = runtime.block_on(session).expect("a browser");
        let browser = Browser {
            session: Some(session),
            runtime,
            server,
            form: options,
            profile,
            expected: Mutex::default(),
            stored: Mutex::default(),
            _places: Arc::clone(places),
            _driver: Arc::clone(driver),
        };
        browser.show_as(options);
        browser
    }

    /// Changes the size and the preferences.
    pub fn show_as(&self, options: Form) {
        let (width, height) = options.size;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": options.scale, "mobile": false}),
        );
        let scheme = if options.dark { "dark" } else { "light" };
        let motion = if options.reduced_motion {
            "reduce"
        } else {
            "no-preference"
        };
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": motion},
            ]}),
        );
    }

    fn session(&self) -> &WebDriver {
        self.session.as_ref().expect("an open session")
    }

    /// Sends a command of WebDriver or chromedriver.
    pub fn command(&self, method: Method, path: &str, body: Value) -> Value {
        let path = path.to_owned();
        let command = RawCommand {
            method,
            path: path.clone(),
            body,
        };
        let sent = self.session().handle().cmd(command);
        let response = self.runtime.block_on(sent);
        let response = response.unwrap_or_else(|error| panic!("{path}: {error}"));
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
            let went = self.runtime.block_on(self.session().goto(url));
            went.expect("the page loads");
        }
    }

    /// The address of the server as this browser knows it.
    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn reload(&self) {
        let loaded = self.runtime.block_on(self.session().refresh());
        loaded.expect("the page loads");
    }

    /// The part of the address after `#`.
    pub fn fragment(&self) -> String {
        let url = self.runtime.block_on(self.session().current_url());
        let url = url.expect("an address");
        url.fragment().unwrap_or_default().to_owned()
    }

    /// Runs a function body in the page.
    pub fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        let ran = self.session().execute(script, arguments);
        let value = self.runtime.block_on(ran);
        let value = value.unwrap_or_else(|error| panic!("{script}: {error}"));
        value.json().clone()
    }

    /// The same for a script that calls its last argument with the result.
    pub fn script_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        let ran = self.session().execute_async(script, arguments);
        let value = self.runtime.block_on(ran);
        let value = value.unwrap_or_else(|error| panic!("{script}: {error}"));
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
        let pieces = self.script(
            "return [...document.querySelectorAll('.pieces [data-seat][data-place]')]
               .map(({dataset}) => `${dataset.seat} ${dataset.place}`)",
            vec![],
        );
        let mut pieces: Vec<String> = serde_json::from_value(pieces).expect("texts");
        pieces.sort();
        pieces
    }

    /// Waits until the player sees something.
    #[track_caller]
    pub fn wait(&self, what: &str, seen: impl Fn(&Look) -> bool) -> Look {
        let begun = Instant::now();
        loop {
            let look = self.look();
            if seen(&look) {
                return look;
            }
            assert!(begun.elapsed() < WAIT, "waited for {what}, saw {look:#?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until an expression of the page is true.
    #[track_caller]
    pub fn wait_for_script(&self, what: &str, expression: &str) {
        let begun = Instant::now();
        let script = format!("return Boolean({expression})");
        while self.script(&script, vec![]) != true {
            assert!(begun.elapsed() < WAIT, "waited for {what}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Clicks on a choice. Returns false if the page has changed and the choice is gone.
    #[track_caller]
    pub fn try_click(&self, choice: &Button) -> bool {
        let clicked = self.runtime.block_on(self.element(choice).click());
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
        let (down, up) = ("pointerDown", "pointerUp");
        let press = |kind: &str| json!({"type": kind, "button": 0});
        let actions = json!([
            {"type": "pointerMove", "x": 0, "y": 0, "origin": choice.element},
            press(down), press(up), press(down), press(up),
        ]);
        let body = json!({"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]});
        self.command(Method::POST, "actions", body);
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
        self.wait_for_script(name, &format!("({NAMED})('button', {})", json!(name)));
        let script = format!("return ({NAMED})('button', arguments[0])");
        let element = self.script(&script, vec![json!(name)]);
        self.click(&Button {
            name: name.to_owned(),
            enabled: true,
            pressed: false,
            focused: false,
            element,
        });
    }

    /// Waits for a field with this label.
    fn field(&self, label: &str) -> WebElement {
        self.wait_for_script(label, &format!("({NAMED})('input', {})", json!(label)));
        let script = format!("return ({NAMED})('input', arguments[0])");
        let element = self.script(&script, vec![json!(label)]);
        let handle = Arc::clone(self.session().handle());
        WebElement::from_json(element, handle).expect("an element")
    }

    /// What is in the field with this label.
    pub fn value(&self, label: &str) -> String {
        let value = self.runtime.block_on(self.field(label).value());
        value.expect("a field").unwrap_or_default()
    }

    /// Types into the field with this label, in place of what is there.
    pub fn type_into(&self, label: &str, text: &str) {
        let field = self.field(label);
        self.runtime.block_on(async {
            field.clear().await.expect("a field");
            field.send_keys(text).await.expect("a field");
        });
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
        self.script(
            &format!("{selector}.scrollIntoView({{ block: 'center' }})"),
            vec![],
        );
        self.settle();
        let picture = self.runtime.block_on(self.session().screenshot_as_png());
        let (width, height, light) = grey(&picture.expect("a picture"));
        let level = |x: usize, y: usize| light[y * width + x];
        let mut picture = rqrr::PreparedImage::prepare_from_greyscale(width, height, level);
        let codes = picture.detect_grids();
        let [code] = &codes[..] else {
            panic!("{} QR codes are in the picture", codes.len());
        };
        code.decode().expect("a readable code").1
    }

    /// Waits for a card of the hand, and clicks on it.
    #[track_caller]
    pub fn choose_card(&self, card: &str) {
        let look = self.wait(card, |look| look.card(card).is_some());
        self.click(look.card(card).expect("the card"));
    }

    /// The element of a choice.
    fn element(&self, choice: &Button) -> WebElement {
        let handle = Arc::clone(self.session().handle());
        WebElement::from_json(choice.element.clone(), handle).expect("an element")
    }

    /// Presses a key, which WebDriver may name by a code point.
    pub fn key(&self, key: char) {
        let (down, up) = ("keyDown", "keyUp");
        let actions = json!([{"type": down, "value": key}, {"type": up, "value": key}]);
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.command(Method::POST, "actions", body);
    }

    /// The tab that commands go to.
    pub fn tab(&self) -> Value {
        self.command(Method::GET, "window", Value::Null)
    }

    pub fn open_tab(&self) -> Value {
        self.command(Method::POST, "window/new", json!({"type": "tab"}))["handle"].take()
    }

    pub fn switch_to(&self, tab: &Value) {
        self.command(Method::POST, "window", json!({"handle": tab}));
    }

    /// Opens another tab, which hides the others.
    pub fn open_tab_in_front(&self) -> Value {
        let tab = self.open_tab();
        self.switch_to(&tab);
        self.devtools("Page.bringToFront", json!({}));
        tab
    }

    /// Cuts the network, or joins it again.
    pub fn set_network(&self, online: bool) {
        let conditions = json!({
            "offline": !online, "latency": 0, "download_throughput": -1, "upload_throughput": -1,
        });
        let body = json!({"network_conditions": conditions});
        self.command(Method::POST, "chromium/network_conditions", body);
    }

    /// The role and the name that the browser itself computes.
    pub fn role_and_name(&self, choice: &Button) -> (String, String) {
        let (_, id) = choice
            .element
            .as_object()
            .and_then(|ids| ids.iter().next())
            .expect("an id");
        let id = id.as_str().expect("an id");
        let computed = |what: &str| {
            let value = self.command(Method::GET, &format!("element/{id}/{what}"), Value::Null);
            value.as_str().expect("a text").to_owned()
        };
        (computed("computedrole"), computed("computedlabel"))
    }

    /// A picture of the viewport, as WebP.
    pub fn picture(&self) -> Vec<u8> {
        let parameters = json!({"format": "webp", "quality": 50});
        let picture = self.devtools("Page.captureScreenshot", parameters);
        let data = picture["data"].as_str().expect("base64");
        BASE64_STANDARD.decode(data).expect("base64")
    }

    /// Says that a message of the console is to be expected: one that contains all these texts.
    pub fn expect_message(&self, texts: &[&str]) {
        let mut expected = self.expected.lock().expect("the expected messages");
        expected.push(texts.join("\n"));
    }

    /// What the console and the network must not show.
    fn complaints(&self) -> Vec<String> {
        let expected = self.expected.lock().expect("the expected messages");
        let is_expected = |text: &str| {
            let mut expected = expected.iter();
            expected.any(|parts| parts.split('\n').all(|part| text.contains(part)))
        };
        let console = self.log("browser");
        let messages = console.iter().filter_map(|entry| {
            let text = entry["message"].as_str()?;
            let level = entry["level"].as_str()?;
            let bad = ["WARNING", "SEVERE"].contains(&level) && !is_expected(text);
            bad.then(|| format!("console: {level}: {text}"))
        });
        let network = self.log("performance");
        let requests = network.iter().filter_map(|entry| {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &event["message"];
            let url = event["params"]["request"]["url"].as_str()?;
            let own = url.strip_prefix(&self.server);
            let own = own.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            // A new tab of Chromium itself is a page too.
            let document = event["params"]["documentURL"].as_str()?;
            let from_page = document.starts_with("http") && !url.starts_with("blob:");
            let sent = event["method"] == "Network.requestWillBeSent";
            (sent && from_page && !own).then(|| format!("a request to another host: {url}"))
        });
        messages.chain(requests).collect()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.command(Method::POST, "se/log", json!({"type": kind}));
        log.as_array().expect("a log").clone()
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

/// A command that is not one of the library's.
#[derive(Debug)]
struct RawCommand {
    method: Method,
    path: String,
    body: Value,
}

impl FormatRequestData for RawCommand {
    fn format_request(&self, session: &SessionId) -> RequestData {
        let request = RequestData::new(
            self.method.clone(),
            format!("session/{session}/{}", self.path),
        );
        if self.method == Method::GET {
            request
        } else {
            request.add_body(self.body.clone())
        }
    }
}

fn capabilities(profile: &std::path::Path) -> Capabilities {
    let profile = format!("--user-data-dir={}", profile.display());
    let arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-sync",
        "--no-first-run",
        "--no-proxy-server",
        "--mute-audio",
        "--hide-scrollbars",
        // A name in a home network. Pages of other hosts than the own machine are no secure context.
        "--host-resolver-rules=MAP dog.home 127.0.0.1",
        "--force-color-profile=srgb",
        "--window-size=1440,900",
        &profile,
    ];
    let capabilities = json!({
        "browserName": "chrome",
        "timeouts": {"script": 120_000},
        "goog:chromeOptions": {
            "args": arguments,
            "perfLoggingPrefs": {"enableNetwork": true, "enablePage": false},
        },
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    });
    serde_json::from_value(capabilities).expect("capabilities")
}
