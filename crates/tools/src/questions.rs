//! Questions to the user and their answers: their validation, and their text for a model.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{HandlerName, kind_of};

/// A question with the answers to choose from. The user may always give another.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserQuestion {
    /// The whole question.
    #[serde(rename = "question")]
    #[schemars(length(min = 1))]
    pub(super) text: String,
    /// The question in a word or two, as a label.
    #[schemars(length(min = 1, max = 12))]
    header: String,
    /// The answers to choose from, without one for anything else: the user can always type another.
    #[schemars(length(min = 2, max = 4))]
    options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default, rename = "multiSelect")]
    multi_select: bool,
}

/// An answer to choose.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct QuestionOption {
    /// The answer in a few words.
    #[schemars(length(min = 1))]
    label: String,
    /// What choosing it means.
    description: String,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum GivenAnswer {
    /// A label, or another text.
    One(String),
    /// Several of these.
    Several(Vec<String>),
}

/// Checks rules that a schema cannot express.
pub(super) fn check_questions(
    questions: &[UserQuestion],
    answers: &BTreeMap<String, String>,
) -> Result<(), ToolError> {
    let mut texts = BTreeSet::new();
    for (number, question) in questions.iter().enumerate() {
        let at = format!("questions[{number}]");
        let text = &question.text;
        check_text(text, &format!("{at}.question"))?;
        check_text(&question.header, &format!("{at}.header"))?;
        if !texts.insert(text) {
            let problem = format!("`{text}` is asked twice; each question needs a different text");
            return Err(invalid(&format!("{at}.question"), &problem));
        }
        let mut labels = BTreeSet::new();
        for (number, option) in question.options.iter().enumerate() {
            let at = format!("{at}.options[{number}].label");
            check_text(&option.label, &at)?;
            if !labels.insert(&option.label) {
                let problem =
                    format!("`{}` is offered twice; each option needs its own label", option.label);
                return Err(invalid(&at, &problem));
            }
        }
    }
    for (question, answer) in answers {
        if !texts.contains(question) {
            let problem = format!("`{question}` is none of the questions; use their exact texts");
            return Err(invalid("answers", &problem));
        }
        check_text(answer, &format!("answers.{question}"))?;
    }
    Ok(())
}

fn check_text(text: &str, place: &str) -> Result<(), ToolError> {
    if text.trim().is_empty() { Err(invalid(place, "must not be blank")) } else { Ok(()) }
}

fn invalid(place: &str, problem: &str) -> ToolError {
    ToolError::new(ErrorKind::Validation, format!("parameter `{place}`: {problem}"))
}

/// Parses the answer of the host: `{ answers: { [question]: text or texts } }`, with one entry for each
/// question.
pub(super) fn read_answers(
    asked: &[&UserQuestion],
    answer: Value,
) -> Result<BTreeMap<String, GivenAnswer>, ToolError> {
    let Value::Object(mut answer) = answer else {
        return Err(wrong_answer(&format!(
            "must answer with `{{ answers }}`, got {}",
            kind_of(&answer)
        )));
    };
    let given = match answer.remove("answers") {
        Some(Value::Object(given)) => given,
        other => {
            let got = other.as_ref().map_or("none", kind_of);
            return Err(wrong_answer(&format!(
                "must answer with `answers`, an object of answers by question, got {got}"
            )));
        }
    };
    let is_asked = |it: &String| asked.iter().any(|question| question.text == *it);
    if let Some(unknown) = given.keys().find(|it| !is_asked(it)) {
        return Err(wrong_answer(&format!("answered `{unknown}`, which was not asked")));
    }
    asked.iter().map(|it| Ok((it.text.clone(), answer_to(it, &given)?))).collect()
}

fn answer_to(
    question: &UserQuestion,
    given: &Map<String, Value>,
) -> Result<GivenAnswer, ToolError> {
    let text = &question.text;
    let texts = match given.get(text) {
        None | Some(Value::Null) => return Err(wrong_answer(&format!("did not answer `{text}`"))),
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => {
            let texts = several.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>().ok_or_else(|| {
                wrong_answer(&format!("must answer `{text}` with texts, got other values"))
            })?
        }
        Some(other) => {
            let got = kind_of(other);
            return Err(wrong_answer(&format!("must answer `{text}` with a text, got {got}")));
        }
    };
    if texts.is_empty() || texts.iter().any(|it| it.trim().is_empty()) {
        return Err(wrong_answer(&format!("gave a blank answer to `{text}`")));
    }
    match <[String; 1]>::try_from(texts) {
        Ok([one]) if !question.multi_select => Ok(GivenAnswer::One(one)),
        Ok(one) => Ok(GivenAnswer::Several(one.into())),
        Err(several) if question.multi_select => Ok(GivenAnswer::Several(several)),
        Err(several) => Err(wrong_answer(&format!(
            "gave {} answers to `{text}`, which takes one",
            several.len()
        ))),
    }
}

fn wrong_answer(problem: &str) -> ToolError {
    let name = HandlerName::AskUser.as_str();
    ToolError::new(ErrorKind::ToolFailed, format!("`handlers.{name}` {problem}"))
}

/// One line for each question, in their order: `question → answer`.
pub(super) fn answers_in_words(
    questions: &[UserQuestion],
    answers: &BTreeMap<String, GivenAnswer>,
) -> String {
    let line = |question: &UserQuestion| {
        let answer = match answers.get(&question.text)? {
            GivenAnswer::One(one) => one.clone(),
            GivenAnswer::Several(several) => several.join(", "),
        };
        let asked = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Further lines of an answer are indented, so that they do not look like another question.
        Some(format!("{asked} → {}", answer.trim().replace('\n', "\n  ")))
    };
    questions.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn question(text: &str, multi_select: bool) -> UserQuestion {
        serde_json::from_value(json!({
            "question": text,
            "header": "Short",
            "options": [
                { "label": "A", "description": "the first" },
                { "label": "B", "description": "the second" },
            ],
            "multiSelect": multi_select,
        }))
        .unwrap()
    }

    fn problem(asked: &[&UserQuestion], answer: Value) -> String {
        read_answers(asked, answer).unwrap_err().message
    }

    #[test]
    fn an_answer_is_a_label_or_any_other_text() {
        let (one, many) = (question("One?", false), question("Many?", true));
        let answers = read_answers(
            &[&one, &many],
            json!({ "answers": { "One?": "something\nelse", "Many?": ["A", "B", "and this"] } }),
        )
        .unwrap();
        assert_eq!(
            answers_in_words(&[many, one], &answers),
            "Many? → A, B, and this\nOne? → something\n  else"
        );
    }

    #[test]
    fn a_single_text_and_a_list_of_one_are_interchangeable() {
        let (one, many) = (question("One?", false), question("Many?", true));
        let answers =
            read_answers(&[&one, &many], json!({ "answers": { "One?": ["A"], "Many?": "B" } }));
        assert_eq!(
            answers.unwrap(),
            BTreeMap::from([
                ("One?".to_owned(), GivenAnswer::One("A".to_owned())),
                ("Many?".to_owned(), GivenAnswer::Several(vec!["B".to_owned()])),
            ])
        );
    }

    #[test]
    fn errors_name_what_is_wrong_with_the_host_answer() {
        let (one, many) = (question("One?", false), question("Many?", true));
        for (answer, wanted) in [
            (json!(null), "must answer with `{ answers }`, got null"),
            (json!({}), "must answer with `answers`, an object of answers by question, got none"),
            (
                json!({ "answers": [] }),
                "must answer with `answers`, an object of answers by question, got an array",
            ),
            (json!({ "answers": { "One?": "A" } }), "did not answer `Many?`"),
            (
                json!({ "answers": { "One?": "A", "Many?": "B", "Else?": "C" } }),
                "answered `Else?`, which was not asked",
            ),
            (
                json!({ "answers": { "One?": ["A", "B"], "Many?": "B" } }),
                "gave 2 answers to `One?`, which takes one",
            ),
            (json!({ "answers": { "One?": "A", "Many?": [] } }), "gave a blank answer to `Many?`"),
            (json!({ "answers": { "One?": " ", "Many?": "A" } }), "gave a blank answer to `One?`"),
            (
                json!({ "answers": { "One?": 1, "Many?": "A" } }),
                "must answer `One?` with a text, got a number",
            ),
            (
                json!({ "answers": { "One?": "A", "Many?": [1] } }),
                "must answer `Many?` with texts, got other values",
            ),
        ] {
            let message = problem(&[&one, &many], answer);
            assert_eq!(message, format!("`handlers.askUser` {wanted}"));
        }
    }
}
