"use strict";

const { unwrap } = require("../errors.js");

/** The places that a registry in this project would use, and what is missing. */
function installationFacts(project) {
  const native = require("../native.js");
  const facts = unwrap(native.installationFacts(JSON.stringify({ ...process.env }), project));
  // A place that there is none for is `null` in JSON.
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
}

module.exports = { installationFacts };
