"use strict";

/**
 * The exit codes of the command line. Help lists them.
 *
 * @type {[code: number, meaning: string][]}
 */
const EXIT_CODES = [
  [0, "it worked"],
  [1, "it did not: the tool failed, a check found something, or the program could not start"],
  [2, "the command line was wrong"],
  [130, "interrupted with Ctrl-C"],
];

/** An error in what was typed. The message says how to type it. */
class UsageError extends Error {
  exitCode = 2;
}

/** An error whose message needs no advice about the command line. */
class CommandError extends Error {
  exitCode = 1;
}

exports.CommandError = CommandError;
exports.EXIT_CODES = EXIT_CODES;
exports.UsageError = UsageError;
