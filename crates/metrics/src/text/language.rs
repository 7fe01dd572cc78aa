//! Is the answer in the language that it should be in?

use whatlang::{Lang, detect};

use super::formula::{Formula, holds};
use super::info;
use crate::outcome::Outcome;
use crate::registry::{Build, BuildError};
use crate::{Column, Metric};

/// How much of a text is looked at, in bytes.
const LOOKED_AT: usize = 2000;

/// ISO 639-1 codes of languages that can be told.
#[rustfmt::skip]
const CODES: [(&str, Lang); 68] = [
    ("af", Lang::Afr), ("ak", Lang::Aka), ("am", Lang::Amh), ("ar", Lang::Ara), ("az", Lang::Aze), ("be", Lang::Bel),
    ("bg", Lang::Bul), ("bn", Lang::Ben), ("ca", Lang::Cat), ("cs", Lang::Ces), ("cy", Lang::Cym), ("da", Lang::Dan),
    ("de", Lang::Deu), ("el", Lang::Ell), ("en", Lang::Eng), ("eo", Lang::Epo), ("es", Lang::Spa), ("et", Lang::Est),
    ("fa", Lang::Pes), ("fi", Lang::Fin), ("fr", Lang::Fra), ("gu", Lang::Guj), ("he", Lang::Heb), ("hi", Lang::Hin),
    ("hr", Lang::Hrv), ("hu", Lang::Hun), ("hy", Lang::Hye), ("id", Lang::Ind), ("it", Lang::Ita), ("ja", Lang::Jpn),
    ("jv", Lang::Jav), ("ka", Lang::Kat), ("km", Lang::Khm), ("kn", Lang::Kan), ("ko", Lang::Kor), ("la", Lang::Lat),
    ("lt", Lang::Lit), ("lv", Lang::Lav), ("mk", Lang::Mkd), ("ml", Lang::Mal), ("mr", Lang::Mar), ("my", Lang::Mya),
    ("nb", Lang::Nob), ("ne", Lang::Nep), ("nl", Lang::Nld), ("or", Lang::Ori), ("pa", Lang::Pan), ("pl", Lang::Pol),
    ("pt", Lang::Por), ("ro", Lang::Ron), ("ru", Lang::Rus), ("si", Lang::Sin), ("sk", Lang::Slk), ("sl", Lang::Slv),
    ("sn", Lang::Sna), ("sr", Lang::Srp), ("sv", Lang::Swe), ("ta", Lang::Tam), ("te", Lang::Tel), ("th", Lang::Tha),
    ("tk", Lang::Tuk), ("tl", Lang::Tgl), ("tr", Lang::Tur), ("uk", Lang::Ukr), ("ur", Lang::Urd), ("uz", Lang::Uzb),
    ("vi", Lang::Vie), ("zh", Lang::Cmn),
];

/// 1 when the answer is in `language`, or else in that of the question; not applicable where that cannot be told.
pub(super) fn build(of: &Build<'_>) -> Result<Box<dyn Metric>, BuildError> {
    let wanted = of
        .section
        .language
        .as_deref()
        .map(|code| {
            let found = CODES.iter().find(|(known, _)| *known == code);
            found.map(|(_, language)| *language).ok_or_else(|| {
                of.bad(
                    "language",
                    format!("`{code}` is none that can be told; it is a code such as `it`"),
                )
            })
        })
        .transpose()?;
    let mut info = info(of.name, false);
    info.needs = match wanted {
        Some(_) => vec![Column::Answer],
        None => vec![Column::Question, Column::Answer],
    };
    if let Some(wanted) = wanted {
        info.version = format!("{}, {}", info.version, wanted.code());
    }
    Ok(Formula::boxed(info, move |sample| {
        let not_applicable = |why: &str| Outcome::NotApplicable(why.to_owned());
        let Some(answer) = &sample.answer else {
            return not_applicable("no answer");
        };
        let wanted = match (wanted, &sample.question) {
            (Some(wanted), _) => wanted,
            (None, None) => return not_applicable("no question"),
            (None, Some(question)) => match told(question) {
                Some(language) => language,
                None => return not_applicable("the language of the question cannot be told"),
            },
        };
        match told(answer) {
            None => not_applicable("the language of the answer cannot be told"),
            Some(found) => holds(found == wanted, || {
                format!(
                    "the answer is in {}, not in {}",
                    found.eng_name(),
                    wanted.eng_name()
                )
            }),
        }
    }))
}

/// The language of a text, where it is certain.
fn told(text: &str) -> Option<Lang> {
    let start = &text[..text.floor_char_boundary(LOOKED_AT)];
    detect(start)
        .filter(whatlang::Info::is_reliable)
        .map(|found| found.lang())
}
