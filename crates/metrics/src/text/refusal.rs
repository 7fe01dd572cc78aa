//! Does the answer decline to answer?

use gate::policy::Direction;

use super::formula::{Formula, score};
use super::info;
use crate::lexical::is_refusal;
use crate::outcome::Outcome;
use crate::{Column, Metric};

/// What an answer that declines says near its beginning, in lower case, beside what the judge that counts words knows.
const PHRASES: [&str; 46] = [
    // English, of an answer that is not in what was retrieved
    "context does not contain",
    "context doesn't contain",
    "context does not provide",
    "context does not mention",
    "documents do not contain",
    "documents do not mention",
    "documents do not provide",
    "is not in the context",
    "is not in the provided",
    "not mentioned in the provided",
    // German, French, Spanish, Italian
    "ich weiß es nicht",
    "ich weiß nicht",
    "keine informationen",
    "kann ich nicht beantworten",
    "kann nicht beantwortet werden",
    "je ne sais pas",
    "je ne peux pas répondre",
    "pas d'information",
    "aucune information",
    "désolé, mais",
    "no lo sé",
    "no sé la respuesta",
    "no puedo responder",
    "no hay información",
    "lo siento, pero",
    "non lo so",
    "non posso rispondere",
    "non ci sono informazioni",
    "nessuna informazione",
    "mi dispiace, ma",
    // Portuguese, Dutch, Russian
    "não sei",
    "não posso responder",
    "não há informações",
    "ik weet het niet",
    "kan ik niet beantwoorden",
    "geen informatie",
    "я не знаю",
    "не могу ответить",
    "нет информации",
    // Chinese, Japanese, Arabic
    "我不知道",
    "无法回答",
    "没有相关信息",
    "わかりません",
    "お答えできません",
    "لا أعرف",
    "لا أستطيع الإجابة",
];

/// How much of the answer is looked at, in bytes.
const LOOKED_AT: usize = 160;

/// 1 when the answer declines, else 0; lower is better.
pub(super) fn build(name: &str) -> Box<dyn Metric> {
    let mut info = info(name, false);
    info.direction = Direction::Lower;
    info.needs = vec![Column::Answer];
    Formula::boxed(info, |sample| {
        let Some(answer) = &sample.answer else {
            return Outcome::NotApplicable("no answer".to_owned());
        };
        if answer.trim().is_empty() {
            return Outcome::NotApplicable("the answer is empty".to_owned());
        }
        score(f64::from(u8::from(declines(answer))))
    })
}

fn declines(answer: &str) -> bool {
    if is_refusal(answer) {
        return true;
    }
    let start = answer.trim();
    let start = start[..start.floor_char_boundary(LOOKED_AT)].to_lowercase();
    let start = start.replace('’', "'");
    PHRASES.iter().any(|phrase| start.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_refusals_of_many_languages() {
        for answer in [
            "I don't know.",
            "Non lo so, mi dispiace.",
            "Das kann ich nicht beantworten.",
            "我不知道这个问题的答案。",
            "لا أعرف الجواب.",
            "None",
            "The provided context does not contain information about this.",
            "Unfortunately, the documents do not mention it.",
        ] {
            assert!(declines(answer), "{answer}");
        }
        for answer in ["In Paris.", "Non è a Roma, ma a Parigi.", "他在巴黎。"] {
            assert!(!declines(answer), "{answer}");
        }
    }
}
