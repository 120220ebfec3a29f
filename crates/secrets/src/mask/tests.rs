use super::*;
use crate::SHAPES;
use proptest::prelude::*;
use std::time::Instant;

const READABLE: Mask = Mask::new("***", Caution::Readable);
const STRICT: Mask = Mask::new("***", Caution::Strict);

#[test]
fn every_shape_is_hidden_in_every_surrounding() {
    for shape in SHAPES {
        let (token, other) = (shape.positive, shape.negative);
        for (before, behind) in [
            ("", ""),
            ("a ", ", b"),
            ("\"", "\""),
            ("(", ")"),
            ("x='", "'"),
            ("\\n", "\\n"),
            (">", "<"),
            ("see ", "."),
        ] {
            let text = format!("{before}{token}{behind}");
            assert_eq!(READABLE.hide(&text), format!("{before}***{behind}"));
        }
        assert_eq!(READABLE.hide(other), other);
    }
}

#[test]
fn values_of_secret_names_are_hidden() {
    for (text, hidden) in [
        ("DB_PASSWORD=hunter22 next", "DB_PASSWORD=*** next"),
        ("SECRET='quoted value' next", "SECRET='***' next"),
        ("export API_KEY=\"a b c d\"", "export API_KEY=\"***\""),
        (r#"{"api_key": "abcdefgh", "n": 1}"#, r#"{"api_key": "***", "n": 1}"#),
        (r#"{\"apiKey\": \"abc defgh\", \"n\": 1}"#, r#"{\"apiKey\": \"***\", \"n\": 1}"#),
        ("spring.datasource.password: hunter22", "spring.datasource.password: ***"),
        ("PASSWORD=a,b;c&d)e next", "PASSWORD=*** next"),
        ("the API key: abcd1234, then", "the API key: ***, then"),
        ("Set-Cookie: a=bcdefg; c=d\nnext", "Set-Cookie: ***\nnext"),
        ("{'auth': 'dXNlcjpwYXNz1'}", "{'auth': '***'}"),
        ("SENTRY_DSN=\"abcdefgh1\"", "SENTRY_DSN=\"***\""),
        ("\u{201e}password=hunter22", "\u{201e}password=***"),
        ("password=p\u{e4}ssw\u{f6}rd1 next", "password=*** next"),
    ] {
        assert_eq!(READABLE.hide(text), hidden);
    }
}

#[test]
fn headers_addresses_and_flags_lose_their_secrets() {
    for (text, hidden) in [
        ("Authorization: Bearer abcdef123", "Authorization: Bearer ***"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        (r#""Authorization": "Bearer lin_api_0123456789""#, r#""Authorization": "Bearer ***""#),
        ("-H 'x: Bearer abc.defg' url", "-H 'x: Bearer ***' url"),
        ("sent Basic dXNlcjpwYXNz.", "sent Basic ***."),
        ("postgresql://bob:s3cr3tPW@localhost/db", "postgresql://bob:***@localhost/db"),
        ("http://h/?token=abcdef123&x=1", "http://h/?token=***&x=1"),
        ("http://h/?x=1&key=abcdefgh", "http://h/?x=1&key=***"),
        ("https://b/x?X-Amz-Signature=0123456789abcdef", "https://b/x?X-Amz-Signature=***"),
        ("srv --api-key hunter22 --port 1", "srv --api-key *** --port 1"),
        ("srv --token=hunter22 x", "srv --token=*** x"),
        ("srv --password 'two words' x", "srv --password '***' x"),
        (r#"["--token", "abc def", "-y"]"#, r#"["--token", "***", "-y"]"#),
        ("\"--token\",\n  \"abcdef\"", "\"--token\",\n  \"***\""),
    ] {
        assert_eq!(READABLE.hide(text), hidden);
    }
}

#[test]
fn private_keys_are_hidden_whole_or_cut() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let end = "-----END RSA PRIVATE KEY-----";
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    for (text, hidden) in [
        (format!("a\n{begin}\n{line}\nabc=\n{end}\nb"), "a\n***\nb"),
        (format!("a\n{begin}\n{line}\n{line}"), "a\n***"),
        (format!("RSA PRIVATE KEY-----\n{line}\n{end}\nb"), "RSA ***\nb"),
        (format!("{line}\n{line}\nabc=\n{end}\nb"), "***\nb"),
        (format!("XYZ\n{line}\nabc=\n{end}\nb"), "***\nb"),
        (format!("some words\n{line}\nabc=\r\n{end}\nb"), "some words\n***\nb"),
        (format!("{{\"k\":\"{begin}\\n{line}\\n{end}\\n\"}}"), "{\"k\":\"***\\n\"}"),
        (format!("\"{line}\\nabc=\\n{end}\\n\""), "\"***\\n\""),
        (format!("1Z log\n1Z {line}\n1Z {line}\n1Z abc=\n1Z {end}"), "1Z log\n1Z ***"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nxx\n-----END PGP PRIVATE KEY BLOCK-----.".to_owned(),
            "***.",
        ),
    ] {
        assert_eq!(READABLE.hide(&text), hidden, "{text}");
    }
    let text = format!("-----BEGIN CERTIFICATE-----\n{line}\n-----END CERTIFICATE-----");
    assert_eq!(READABLE.hide(&text), text);
}

#[test]
fn ordinary_texts_stay() {
    let image = format!(
        "data:image/png;base64,{}",
        "iVBORw0KGgoAAAANSUhEUgAA/AUA+AAAFCAYAAACNbyblAAAAHElEQVQI12P4".repeat(9)
    );
    for text in [
        "plain text, with: marks / and 12",
        "550e8400-e29b-41d4-a716-446655440000 and 550E8400-E29B-41D4-A716-446655440000",
        "git 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sk-learn and npm_config are words, the token expired, a bearer token is missing",
        "Bearer resource_metadata=\"x\", error=\"invalid_token\"",
        "Basic usage, basic Authentication and Basic HTTP things",
        "tokens: 12345678, max_tokens=4096000, token_type: bearer1",
        "nothing to see: sk-1 and monkey=12345678",
        "token: string; password: required; --token TOKEN, --api-key <KEY>",
        "TOKEN=${GITHUB_TOKEN} TOKEN={env:TOKEN} token=$TOKEN",
        "PWD=/home/me/work TOKEN_FILE=/run/secrets/token",
        "Cache restored from key: v0-rust-Linux-x64-1a2b3c4d",
        "https://host/@scope/name?a=b#c@d ssh://git@github.com/x",
        r#"{"password": {"type": "string"}, "required": ["password", "token"]}"#,
        r#""env": { "API_KEY": "the real value" }"#,
        "a:\nb",
        &image,
    ] {
        assert_eq!(READABLE.hide(text), text);
        assert_eq!(STRICT.hide(text), text);
    }
    for text in ["unexpected token: Token::new(1)", "token=/run/secrets/token"] {
        assert_eq!(READABLE.hide(text), text);
    }
}

#[test]
fn a_strict_mask_hides_short_values_and_random_words() {
    for (text, hidden) in [
        (r#"{"api_key": "k", "n": 1}"#, r#"{"api_key": "***", "n": 1}"#),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ("x 9F86d081884c7d659a2feaa0c55ad015a3bf", "x ***"),
    ] {
        assert_eq!(STRICT.hide(text), hidden);
        assert_eq!(READABLE.hide(text), text);
    }
}

#[test]
fn known_values_are_hidden_in_all_their_forms() {
    let mask =
        READABLE.knowing(["opaque-value-1", "opaque-value-1-longer", "with \"quote\" & sign", "short"]);
    assert_eq!(mask.hide("sent opaque-value-1-longer and opaque-value-1 away"), "sent *** and *** away");
    assert_eq!(mask.hide(r#"{"x":"with \"quote\" & sign"}"#), r#"{"x":"***"}"#);
    assert_eq!(mask.hide("?x=with%20%22quote%22%20%26%20sign&y"), "?x=***&y");
    assert_eq!(mask.hide("a short word"), "a short word");
}

#[test]
fn a_secret_that_is_cut_by_the_border_of_a_part_is_hidden() {
    let text = "x ghp_a1B2c3D4e5F6a1B2c3D4e5F6 y";
    assert_eq!(READABLE.hide_part(text, 0..10), "x ***");
    assert_eq!(READABLE.hide_part(text, 10..text.len()), "*** y");
    assert_eq!(READABLE.hide_part(text, 0..1), "x");
}

#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "token=$",
        "token='",
        "token=\"\\",
        "ghp_",
        "sk-",
        "Bearer ",
        "://",
        "://a:b@",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----END ",
        "A",
        "AKIA",
        "eyJ",
        "tokentoken",
        "password: ",
        "key=",
        "a\n",
        "=",
        "\\",
        "--token ",
        "PRIVATE KEY",
        "MIIE\n-----END PRIVATE KEY-----\n",
        "MIICWwIBAAKBgQDDs5NjMRsKq+FV6+6J4GjN56623PoQzuuEkSkSRPMmI7Ub/RiS\n",
        "-----BEGIN CERTIFICATE-----\n",
    ] {
        let text = unit.repeat((1 << 19) / unit.len());
        let begin = Instant::now();
        std::hint::black_box(STRICT.hide(&text));
        // Linear work takes a tenth of a second, quadratic work minutes.
        assert!(begin.elapsed().as_secs() < 20, "{unit:?} took {:?}", begin.elapsed());
    }
}

proptest! {
    #[test]
    fn any_text_can_be_hidden_whole_and_as_a_part(text in "(ghp_|token|=|:|\"|'|://|@|[a-c1-3]{1,8}|\n| |PRIVATE KEY-----|-----END |ä){0,40}") {
        let hidden = READABLE.hide(&text);
        prop_assert_eq!(READABLE.hide_part(&text, 0..text.len()), hidden.as_ref());
        STRICT.hide(&text);
    }
}
