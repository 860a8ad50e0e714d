//! `AskUserQuestion`: puts up to four questions to the user and waits for the answers.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, HandlerName, Tool, ToolContext, ToolOutput};

use crate::questions::{
    GivenAnswer, UserQuestion, answers_in_words, check_questions, read_answers,
};

/// The registry's limit on calls is too short for people, so questions have their own limit,
/// `limits.questionTimeoutMs`. This value is above any that can be set there.
const LONGEST: Duration = Duration::from_hours(24 * 30);

#[derive(Default)]
pub(super) struct AskUserQuestion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The questions.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<UserQuestion>,
    /// Answers that are known already, by the text of the question. These questions are not asked.
    #[serde(default)]
    answers: Option<BTreeMap<String, String>>,
}

/// What the user answered.
#[derive(Serialize, JsonSchema)]
pub(super) struct UserAnswers {
    /// The answers by the text of their question; a list where several could be chosen.
    answers: BTreeMap<String, GivenAnswer>,
}

pub(super) struct Plan {
    questions: Vec<UserQuestion>,
    known: BTreeMap<String, GivenAnswer>,
}

impl Tool for AskUserQuestion {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "AskUserQuestion";
    const TITLE: &'static str = "Ask the User";
    const DESCRIPTION: &'static str = include_str!("../description/ask_user_question.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    // The tool itself asks the user, so asking for permission first would only add another question.
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const TIMEOUT: Option<Duration> = Some(LONGEST);

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Plan, ToolError> {
        let Input { questions, answers } = input;
        let answers = answers.unwrap_or_default();
        check_questions(&questions, &answers)?;
        let known = answers.into_iter().map(|(question, it)| (question, GivenAnswer::One(it)));
        Ok(Plan { questions, known: known.collect() })
    }
}

impl CallPlan for Plan {
    type Output = UserAnswers;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let texts: Vec<&str> = self.questions.iter().map(|it| it.text.as_str()).collect();
        format!("Ask the user: {}", texts.join(" · "))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<UserAnswers>, ToolError> {
        let Plan { questions, known: mut answers } = self;
        let open: Vec<&UserQuestion> =
            questions.iter().filter(|it| !answers.contains_key(&it.text)).collect();
        if !open.is_empty() {
            answers.extend(read_answers(&open, ask(&open, cx).await?)?);
        }
        let words = answers_in_words(&questions, &answers);
        Ok(ToolOutput::text(words).with_data(UserAnswers { answers }))
    }
}

/// Lets the host ask the user.
async fn ask(open: &[&UserQuestion], cx: &ToolContext) -> Result<Value, ToolError> {
    let no_user =
        "no user can be asked here; decide by yourself, or put the question into your answer";
    let handler = cx.handlers.require(HandlerName::AskUser, no_user)?;
    let questions = json!(open);
    let asked = handler.call(&questions, Value::Null, cx);
    tokio::time::timeout(cx.question_timeout, asked).await.unwrap_or_else(|_| {
        let message = format!(
            "the user did not answer within {} ms; continue without an answer, or ask again later",
            cx.question_timeout.as_millis()
        );
        Err(ToolError::new(ErrorKind::Timeout, message))
    })
}
