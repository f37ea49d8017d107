window.addEventListener("load", () => {
  const ui = SwaggerUIBundle({
    "url": "/openapi.json",
    "dom_id": "#swagger-ui",
    "deepLinking": true,
    "tryItOutEnabled": true,
    "validatorUrl": "none", // otherwise a foreign host would be asked to validate the document
    "layout": "StandaloneLayout",
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    // The server of this page, in place of the first one.
    onComplete: () => ui.oas3Actions.setSelectedServer("/"),
  });
});
