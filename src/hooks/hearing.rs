//! Asks the `PreToolUse` hooks of one call, until all of them have seen the input that will run.

use serde_json::Value;

use super::{Hook, HookVerdict, event_json, hook_answer::HookAnswer};
use crate::tool::ToolContext;

/// How many times one hook is asked about one call. This ends hooks that keep rewriting each other's input.
const MAX_TIMES: usize = 8;

/// The hooks of one call, and their answers so far.
pub(crate) struct Hearing<'a> {
    tool: &'a str,
    heard: Vec<HeardHook<'a>>,
    /// The place of the hook that is asked next.
    next: usize,
    /// The number of the current input. Each rewrite makes a new one.
    input: usize,
    /// The first reason why a person has to be asked. It stays when the input is rewritten.
    asks: Option<String>,
    /// What the model is told with the answer.
    context: Vec<String>,
}

/// A hook and what it said last.
struct HeardHook<'a> {
    hook: &'a Hook,
    times: usize,
    /// The number of the input that it saw last, or made.
    knows: Option<usize>,
    allows: Option<String>,
}

/// What the caller has to do next.
pub(crate) enum HearingStep {
    /// A hook replaced the input by this one. The caller prepares and judges it, and then goes on with the
    /// hearing.
    Rewritten(Value),
    /// Every hook has seen the input.
    Over {
        /// The combined verdict of the hooks.
        said: HookVerdict,
        /// What the model is told with the answer.
        context: Vec<String>,
    },
    /// A hook stops the call.
    Blocked {
        /// The reason, in words for the model.
        reason: String,
        /// Why the whole turn ends, if it does.
        stop: Option<String>,
    },
}

impl<'a> Hearing<'a> {
    pub(super) fn new(tool: &'a str, hooks: impl Iterator<Item = &'a Hook>) -> Self {
        let heard =
            hooks.map(|hook| HeardHook { hook, times: 0, knows: None, allows: None }).collect();
        Self { tool, heard, next: 0, input: 0, asks: None, context: Vec::new() }
    }

    /// True when no hook wants to be asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.heard.is_empty()
    }

    /// Asks every hook that has not seen this input, one after the other, until one rewrites it. That hook
    /// is not asked about its own rewrite; all others are.
    pub(crate) async fn go_on(&mut self, input: &Value, cx: &ToolContext) -> HearingStep {
        while let Some(place) = self.whose_turn() {
            self.next = place + 1;
            let Some(heard) = self.heard.get_mut(place) else { break };
            if heard.times == MAX_TIMES {
                return blocked(format!(
                    "PreToolUse hooks still change each other's input after {MAX_TIMES} rounds, so the \
                     call was not run; go on without it, or ask the user"
                ));
            }
            heard.times += 1;
            let answer =
                heard.hook.ask(&event_json(heard.hook.event, self.tool, input, cx), cx).await;
            let answer = match answer {
                Ok(answer) => answer,
                Err(cause) => {
                    let cause = cause.trim_end_matches([' ', ':']);
                    return blocked(format!(
                        "a PreToolUse hook failed: {cause}; go on without this call, or ask the user"
                    ));
                }
            };
            let HookAnswer { verdict, updated_input, context, stop, suppress_output: _ } = answer;
            self.context.extend(context.filter(|it| !self.context.contains(it)));
            if let Some(reason) = stop {
                return HearingStep::Blocked { stop: Some(reason.clone()), reason };
            }
            heard.allows = None;
            match verdict {
                HookVerdict::Block(reason) => return blocked(reason),
                HookVerdict::Ask(reason) => self.asks = self.asks.take().or(Some(reason)),
                HookVerdict::Allow(reason) => heard.allows = Some(reason),
                HookVerdict::Silent => {}
            }
            let rewritten = updated_input.filter(|it| it != input);
            self.input += usize::from(rewritten.is_some());
            heard.knows = Some(self.input);
            if let Some(rewritten) = rewritten {
                return HearingStep::Rewritten(rewritten);
            }
        }
        let allows = || self.heard.iter().find_map(|it| it.allows.clone());
        let said = match self.asks.take() {
            Some(reason) => HookVerdict::Ask(reason),
            None => allows().map_or(HookVerdict::Silent, HookVerdict::Allow),
        };
        HearingStep::Over { said, context: std::mem::take(&mut self.context) }
    }

    /// The next hook that has not seen the input, in order, starting again at the first.
    fn whose_turn(&self) -> Option<usize> {
        let is_open =
            |place: &usize| self.heard.get(*place).is_some_and(|it| it.knows != Some(self.input));
        (self.next..self.heard.len()).chain(0..self.next).find(is_open)
    }
}

fn blocked(reason: String) -> HearingStep {
    HearingStep::Blocked { reason, stop: None }
}
