"use strict";

/**
 * @import { CallFailure, CallResult, ToolContent } from "../types/results"
 * @import { CallProgress } from "./call-progress.js"
 * @import { Output, Terminal } from "./terminal.js"
 */

const { escaped } = require("./terminal.js");

/**
 * Prints the result of a call: what succeeded on standard output, what failed on standard error. On a
 * terminal, what progress has shown already is left out.
 *
 * @param {CallResult} result
 * @param {Terminal} terminal
 * @param {CallProgress} [progress]
 */
function printResult(result, { out, err }, progress) {
  if (result.isError) {
    printFailure(result, err, progress);
    return;
  }
  const { content, display } = result;
  const isSeen = out.isTerminal && err.isTerminal;
  if (isSeen && progress?.isInLine) err.line();
  for (const block of content) {
    const text = textOf(block);
    const shown = isSeen ? (progress?.unseen(text) ?? text) : text;
    if (shown === "" && isSeen) continue;
    out.write(withLineEnd(out.isTerminal ? escaped(shown) : shown));
  }
  // The diff of an edit is only shown to people.
  if (out.isTerminal && display?.startsWith("--- ")) out.line(out.diff(escaped(display.trimEnd())));
}

/**
 * A text that ends with a line needs no further end, so that a file is printed as it is.
 *
 * @param {string} text
 */
function withLineEnd(text) {
  return text.endsWith("\n") ? text : `${text}\n`;
}

/**
 * @param {CallFailure} failure
 * @param {Output} err
 * @param {CallProgress | undefined} progress
 */
function printFailure({ content, error, display }, err, progress) {
  if (progress?.isInLine) err.line();
  // A command that failed has printed something before; other tools give the error alone.
  const output = content.map(textOf).join("\n");
  const rest = progress?.unseen(output) ?? output;
  if (!output.includes(error.message) && rest !== "") err.line(escaped(rest));
  // A person reads this, so a refusal is shown with the way to allow the call.
  const why = error.details ? display : error.message;
  err.line(`${err.styled("red", `${error.type}:`)} ${escaped(why ?? error.message)}`);
  const rules = error.details?.suggestedRules ?? [];
  if (rules.length > 0) err.line(escaped(`here: ${rules.map(allowing).join(" ")}`));
}

/**
 * The option that allows a refused call, quoted for a shell.
 *
 * @param {string} rule
 */
function allowing(rule) {
  return `--allow '${rule.replaceAll("'", `'\\''`)}'`;
}

/** @param {ToolContent} block */
function textOf(block) {
  if (block.type === "text") return block.text;
  if (block.type === "resource_link") return block.uri;
  if (block.type !== "resource") return inWords(block.mimeType, block.data);
  const { resource } = block;
  if ("text" in resource) return resource.text;
  return inWords(resource.mimeType ?? block.type, resource.blob);
}

/**
 * What is printed instead of bytes.
 *
 * @param {string} kind
 * @param {string} data
 */
function inWords(kind, data) {
  return `[${kind}, ${Math.floor((data.length * 3) / 4)} bytes; --output json prints them in base64]`;
}

module.exports = { allowing, printResult };
