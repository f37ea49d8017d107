// What axe-core finds, in one line each.
const [rules, done] = arguments;
axe.run(document, { runOnly: rules }).then(({ violations }) => done(violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary.replace(/\s+/g, " ")}`))));
