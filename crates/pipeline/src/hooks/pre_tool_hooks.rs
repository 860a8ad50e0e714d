//! Runs the `PreToolUse` hooks of one call, until all of them have seen the final input.

use serde_json::Value;
use toolwright_core::ToolContext;

use super::{Hook, HookVerdict, event_json, hook_answer::HookAnswer};

/// How many times one hook runs for one call. Stops hooks that keep rewriting each other's input.
const MAX_TIMES: usize = 8;

/// The hooks of one call, and their answers so far.
pub(crate) struct PreToolHooks<'a> {
    tool: &'a str,
    asked: Vec<AskedHook<'a>>,
    /// The index of the hook that runs next.
    next: usize,
    /// The number of the current input. Each rewrite increments it.
    input: usize,
    /// The first reason to ask a person. It stays when the input is rewritten.
    asks: Option<String>,
    /// Context for the model, added to the result.
    context: Vec<String>,
}

/// A hook and its last answer.
struct AskedHook<'a> {
    hook: &'a Hook,
    times: usize,
    /// The number of the input that it saw last, or that it made.
    knows: Option<usize>,
    allows: Option<String>,
}

/// What the caller must do next.
pub(crate) enum PreToolStep {
    /// A hook replaced the input. The caller prepares and judges the new input, and then calls `next`
    /// again.
    Rewritten(Value),
    /// Every hook has seen the input.
    Over {
        /// The combined verdict of the hooks.
        said: HookVerdict,
        /// Context for the model, added to the result.
        context: Vec<String>,
    },
    /// A hook stops the call.
    Blocked {
        /// The reason, written for the model.
        reason: String,
        /// Why the whole turn ends, if it does.
        stop: Option<String>,
    },
}

impl<'a> PreToolHooks<'a> {
    pub(super) fn new(tool: &'a str, hooks: impl Iterator<Item = &'a Hook>) -> Self {
        let asked =
            hooks.map(|hook| AskedHook { hook, times: 0, knows: None, allows: None }).collect();
        Self { tool, asked, next: 0, input: 0, asks: None, context: Vec::new() }
    }

    /// True when there is no hook to run.
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Runs every hook that has not seen this input, one after the other, until one rewrites it. That
    /// hook does not run on its own rewrite; all others do.
    pub(crate) async fn next(&mut self, input: &Value, cx: &ToolContext) -> PreToolStep {
        while let Some(index) = self.next_hook() {
            self.next = index + 1;
            let Some(asked) = self.asked.get_mut(index) else { break };
            if asked.times == MAX_TIMES {
                return blocked(format!(
                    "PreToolUse hooks still change each other's input after {MAX_TIMES} rounds, so the \
                     call was not run; continue without it, or ask the user"
                ));
            }
            asked.times += 1;
            let answer =
                asked.hook.ask(&event_json(asked.hook.event, self.tool, input, cx), cx).await;
            let answer = match answer {
                Ok(answer) => answer,
                Err(cause) => {
                    let cause = cause.trim_end_matches([' ', ':']);
                    return blocked(format!(
                        "a PreToolUse hook failed: {cause}; continue without this call, or ask the user"
                    ));
                }
            };
            let HookAnswer { verdict, updated_input, context, stop, suppress_output: _ } = answer;
            self.context.extend(context.filter(|it| !self.context.contains(it)));
            if let Some(reason) = stop {
                return PreToolStep::Blocked { stop: Some(reason.clone()), reason };
            }
            asked.allows = None;
            match verdict {
                HookVerdict::Block(reason) => return blocked(reason),
                HookVerdict::Ask(reason) => self.asks = self.asks.take().or(Some(reason)),
                HookVerdict::Allow(reason) => asked.allows = Some(reason),
                HookVerdict::Silent => {}
            }
            let rewritten = updated_input.filter(|it| it != input);
            self.input += usize::from(rewritten.is_some());
            asked.knows = Some(self.input);
            if let Some(rewritten) = rewritten {
                return PreToolStep::Rewritten(rewritten);
            }
        }
        let allows = || self.asked.iter().find_map(|it| it.allows.clone());
        let said = match self.asks.take() {
            Some(reason) => HookVerdict::Ask(reason),
            None => allows().map_or(HookVerdict::Silent, HookVerdict::Allow),
        };
        PreToolStep::Over { said, context: std::mem::take(&mut self.context) }
    }

    /// The next hook that has not seen the current input, in order, wrapping around to the first.
    fn next_hook(&self) -> Option<usize> {
        let is_open =
            |index: &usize| self.asked.get(*index).is_some_and(|it| it.knows != Some(self.input));
        (self.next..self.asked.len()).chain(0..self.next).find(is_open)
    }
}

fn blocked(reason: String) -> PreToolStep {
    PreToolStep::Blocked { reason, stop: None }
}
