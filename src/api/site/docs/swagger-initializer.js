// The path in the button of an operation is plain text: Swagger UI has a link there, which no button may have.
const PlainPath = ({ text }) => text;
const plainPaths = ({ React }) => ({
  wrapComponents: {
    OperationSummaryPath: (Path) => (props) => React.createElement(Path, { ...props, getComponent: () => PlainPath }),
  },
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// Names, and focus for what scrolls, where Swagger UI leaves them out.
const NAMES = { "#servers": "Server", "select": "Value", "textarea": "Request body", ".microlight": "Example" };
const name = () => Object.entries(NAMES).forEach(([selector, text]) =>
  document.querySelectorAll(selector).forEach((one) => {
    one.ariaLabel ||= text;
    one.tabIndex = 0;
  }));
new MutationObserver(name).observe(document.documentElement, { childList: true, subtree: true });

window.addEventListener("load", () => {
  const ui = SwaggerUIBundle({
    "url": "/openapi.json",
    "dom_id": "#swagger-ui",
    "deepLinking": true,
    "tryItOutEnabled": true,
    "syntaxHighlight": { theme: "obsidian" },
    "validatorUrl": "none", // otherwise a foreign host would be asked to validate the document
    "layout": "BaseLayout",
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl, plainPaths],
    // The server of this page, in place of the first one.
    onComplete: () => ui.oas3Actions.setSelectedServer("/"),
  });
});
