//! Every text of a server that reaches a model, and what is odd about characters in it.

use crate::{
    evidence::{Case, FrameRef, List},
    outcome::{Finding, Skip},
};
use serde_json::Value;

/// One string and where it stands.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) content: &'a str,
    /// What it belongs to: `tool echo`, `the instructions`, …
    pub(super) about: String,
    pub(super) frame: FrameRef,
    pub(super) pointer: String,
}

impl Text<'_> {
    pub(super) fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(message).about(self.about.clone()).at(self.frame, self.pointer.clone())
    }
}

/// All texts of the introduction and of the lists.
pub(super) fn all<'a>(case: &Case<'a>) -> Result<Vec<Text<'a>>, Skip> {
    let introduced = case.introduced();
    let introduced = introduced.and_then(|asked| Some((asked.result()?, asked.answer_ref()?)));
    let (introduction, frame) = introduced.ok_or_else(|| Skip::not_verified("there is no introduction"))?;
    let mut texts = Vec::new();
    for (member, about) in [("instructions", "the instructions"), ("serverInfo", "the server's description of itself")] {
        if let Some(value) = introduction.get(member) {
            collect(value, (about, frame), format!("/result/{member}"), &mut texts);
        }
    }
    for list in List::ALL {
        if case.capability(list.capability()).is_none() {
            continue;
        }
        match case.list(list) {
            Ok(items) => {
                for item in items {
                    collect(item.value, (&item.label(), item.frame), item.pointer.clone(), &mut texts);
                }
            }
            // Templates are optional, and a failing list is another rule's business, as long as something was read.
            Err(why) if texts.is_empty() && list != List::Templates => return Err(why),
            Err(_) => {}
        }
    }
    Ok(texts)
}

fn collect<'a>(value: &'a Value, at: (&str, FrameRef), pointer: String, texts: &mut Vec<Text<'a>>) {
    match value {
        Value::String(text) => texts.push(Text { content: text, about: at.0.to_owned(), frame: at.1, pointer }),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, at, format!("{pointer}/{index}"), texts);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(item, at, format!("{pointer}/{name}"), texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Characters that show nothing or reorder what is shown. Joiners and single selectors have honest uses.
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
        | '\u{feff}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// A joiner between plain letters, or selectors in a row: neither belongs to any script or emoji.
pub(super) fn odd_joiners(text: &str) -> Option<char> {
    let chars: Vec<char> = text.chars().collect();
    let selector = |c: char| matches!(c, '\u{fe00}'..='\u{fe0f}');
    chars.windows(3).find_map(|three| {
        let joined = matches!(three[1], '\u{200c}' | '\u{200d}') && three[0].is_ascii() && three[2].is_ascii();
        let row = selector(three[0]) && selector(three[1]);
        (joined || row).then_some(three[1])
    })
}

/// The letter that a tag character stands for.
pub(super) fn tag_letter(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xe0000).filter(|code| (0x20..0x7f).contains(code))?;
    char::from_u32(code)
}

/// In lower case, hidden characters taken out, blanks made one: so that phrases are found.
pub(super) fn folded(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|c| !is_hidden(*c))
        .map(|c| if c == '\u{2019}' { '\'' } else { c })
        .collect();
    shown.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a name looks like: letters that look alike become one.
pub(super) fn skeleton(name: &str) -> String {
    let same = |c: char| match c {
        'а' => 'a',
        'е' => 'e',
        'о' | 'ο' | '0' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' => 'x',
        'у' => 'y',
        'і' | 'ι' | '1' | 'l' | 'I' => 'i',
        'ѕ' => 's',
        'ԁ' => 'd',
        '-' | '.' => '_',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(same).collect()
}
