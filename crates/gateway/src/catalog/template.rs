//! Template: checks if a URI can be an expansion of an RFC 6570 template. This is only for
//! routing, so it may accept too much; the server decides.

/// Most steps of a template; longer ones match nothing.
const MAX_STEPS: usize = 4096;
/// Most work for one URI (steps × bytes); beyond it nothing matches.
const MAX_WORK: usize = 1 << 24;

/// A template, split into literal bytes and expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// The literal prefix of every match; it rules out most templates quickly.
    prefix: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Literal(u8),
    /// `{name}`: anything without `/`, `?` and `#`.
    Part,
    /// `{+name}`, `{?name}` etc.: anything.
    Any,
}

impl Template {
    /// An expression that is never closed is literal text.
    pub(crate) fn new(text: &str) -> Self {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else { break };
            steps.extend(rest[..open].bytes().map(Step::Literal));
            let operator = rest[open + 1..].bytes().next();
            let wide =
                operator.is_some_and(|b| b"+#/.;?&".contains(&b)) || rest[open..open + length].contains('*');
            steps.push(if wide { Step::Any } else { Step::Part });
            rest = &rest[open + length + 1..];
        }
        steps.extend(rest.bytes().map(Step::Literal));
        let literal = steps.iter().take_while(|step| matches!(step, Step::Literal(_))).count();
        let prefix = text.get(..literal).unwrap_or_default().to_owned();
        Self { prefix, steps }
    }

    /// Simulates all matches at once (as an NFA), so the time is bounded by the product of the two
    /// lengths.
    pub(crate) fn matches(&self, uri: &str) -> bool {
        if self.steps.len() > MAX_STEPS {
            return false;
        }
        let Some(rest) = uri.strip_prefix(self.prefix.as_str()) else { return false };
        let steps = &self.steps[self.prefix.len()..];
        if steps.len().saturating_mul(rest.len()) > MAX_WORK {
            return false;
        }
        let mut here = vec![false; steps.len() + 1];
        here[0] = true;
        let mut next = vec![false; here.len()];
        skip_places(steps, &mut here);
        for byte in rest.bytes() {
            next.fill(false);
            for (at, step) in steps.iter().enumerate().filter(|(at, _)| here[*at]) {
                match step {
                    Step::Literal(want) if *want == byte => next[at + 1] = true,
                    Step::Literal(_) => {}
                    Step::Part if matches!(byte, b'/' | b'?' | b'#') => {}
                    Step::Part | Step::Any => next[at] = true,
                }
            }
            skip_places(steps, &mut next);
            std::mem::swap(&mut here, &mut next);
        }
        here[steps.len()]
    }
}

/// An expression may expand to nothing.
fn skip_places(steps: &[Step], here: &mut [bool]) {
    for (at, step) in steps.iter().enumerate() {
        if here[at] && !matches!(step, Step::Literal(_)) {
            here[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(template: &str, uri: &str) -> bool {
        Template::new(template).matches(uri)
    }

    #[test]
    fn places_take_what_their_operator_lets_them() {
        assert!(matches("note://{id}", "note://7") && !matches("note://{id}", "note://7/a"));
        assert!(matches("file:///{+path}", "file:///a/b/c") && matches("a:{x}/{y}.txt", "a:1/2.3.txt"));
        assert!(matches("s://h/q{?a,b}", "s://h/q?a=1&b=2") && matches("s://h/q{?a,b}", "s://h/q"));
        assert!(matches("x:{a}é{b}", "x:1é2") && !matches("x:{a}é{b}", "x:1e2"));
        assert!(matches("plain:{", "plain:{") && !matches("plain:{", "plain:x"));
    }

    #[test]
    fn a_hostile_template_and_uri_take_bounded_time() {
        let template = format!("a:{}b", "{x}".repeat(1000));
        assert!(!matches(&template, &format!("a:{}", "x".repeat(2000))));
        assert!(!matches(&"{x}".repeat(5000), "a"));
        assert!(!matches(&format!("{}b", "{x}".repeat(1000)), &"x".repeat(100_000)));
    }
}
