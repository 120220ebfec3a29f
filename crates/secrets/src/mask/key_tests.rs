use super::*;

const MASK: Mask = Mask::new("***", Caution::Readable);
const STRICT: Mask = Mask::new("***", Caution::Strict);

/// Keys that were made for these tests, by `openssl` and `ssh-keygen`.
const RSA: &str = "\
MIICWwIBAAKBgQDDs5NjMRsKq+FV6+6J4GjN56623PoQzuuEkSkSRPMmI7Ub/RiS
y/Mlw95oy2lqZDGklOYeCNHb+AVmfgyWPY2TC04tKzo4UmR0jBxBqhvkXjbWao5v
tQQKUwflvmPiYst7I0YcX2QSxSb8plFP6h/GKq++TYWV2V543zxzAttPowIDAQAB
AoGAFo3eoaLqK+utN5rOTgOX8IsP/rEu/LrsN8YHBrz9jNq2p7gemeR5bFPLkSZI
DRysDguGYCR70XxxOExnSNvUxkHNde8DAmessO2nOg==";
const PKCS8: &str = "\
MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAMOzk2MxGwqr4VXr
7ongaM3nrrbc+hDO64SRKRJE8yYjtRv9GJLL8yXD3mjLaWpkMaSU5h4I0dv4BWZ+
7wMCZ6yw7ac6";
const EC: &str = "\
MHcCAQEEIPtbNc2TzpB9JN0y5jckIW3sr2xZpCUljlpbZmoIuxzSoAoGCCqGSM49
AwEHoUQDQgAEE/fhSx3ZtVDlgDhqmk/G1kfH0cprgiaKOKHSZFFvc9BdKj4M+wfX
Eabwc9/4ztCfhJxhV9907OA/SE/PtM6hGA==";
const EC_PKCS8: &str = "\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+1s1zZPOkH0k3TLm
NyQhbeyvbFmkJSWOWltmagi7HNKhRANCAAQT9+FLHdm1UOWAOGqaT8bWR8fRymuC
Joo4odJkUW9z0F0qPgz7B9cRpvBz3/jO0J+EnGFX33Ts4D9IT8+0zqEY";
const ED25519: &str = "MC4CAQAwBQYDK2VwBCIEIPBAYkts2KAYda07qR60h52neBQpM8Y18lQsMmcssfsp";
const ENCRYPTED: &str = "\
MIIC3TBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIXWvmqx0sbz4CAggA
MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBDQLV/R1QMR/z23WfLxuCQaBIIC
gPIjX48e8U8jXcQOK059TFOctaY+e+ssoZLd7PpYbfVShwTSJiUsyIKxz4NDM3EL";
const OPENSSH: &str = "\
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBv9EobaqNhWXDwBYBkPfm7VEM9vQqdGFwpmihbCR4QlwAAAJBJsneQSbJ3
kAAAAAtzc2gtZWQyNTUxOQAAACBv9EobaqNhWXDwBYBkPfm7VEM9vQqdGFwpmihbCR4Qlw
AAAEDCCCZOQyzOn+FFiHJnAwbKOoYTXI9jhNMJj3MpLGMRCm/0Shtqo2FZcPAFgGQ9+btU
Qz29Cp0YXCmaKFsJHhCXAAAAB3Jvb3RAdm0BAgMEBQY=";
const CERTIFICATE: &str = "\
MIIB9DCCAV2gAwIBAgIUGLAQCN8/HrvikzY4Qmw3zhAUyK4wDQYJKoZIhvcNAQEL
BQAwDDEKMAgGA1UEAwwBeDAeFw0yNjExMTYyMzI2MDlaFw0yNjExMTcyMzI2MDla
MAwxCjAIBgNVBAMMAXgwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBAMOzk2Mx";
const PUBLIC: &str = "\
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDDs5NjMRsKq+FV6+6J4GjN5662
3PoQzuuEkSkSRPMmI7Ub/RiSy/Mlw95oy2lqZDGklOYeCNHb+AVmfgyWPY2TC04t";

const KEYS: [&str; 7] = [RSA, PKCS8, EC, EC_PKCS8, ED25519, ENCRYPTED, OPENSSH];

#[test]
fn c07_the_body_of_a_key_is_hidden_without_its_first_and_last_line() {
    for key in KEYS {
        for mask in [MASK, STRICT] {
            assert_eq!(mask.hide(&format!("log\n{key}\ndone")), "log\n***\ndone");
            assert_eq!(mask.hide(&format!("key: {key}\r\ndone")), "key: ***\r\ndone");
            let json = key.replace('\n', "\\n");
            assert_eq!(mask.hide(&format!("{{\"k\":\"{json}\\n\"}}")), "{\"k\":\"***\\n\"}");
            let stamped = key.replace('\n', "\n2026-11-16T23:26:09.0000000Z ");
            assert_eq!(mask.hide(&format!("1Z {stamped}\n1Z b")), "1Z ***\n1Z b");
        }
    }
}

#[test]
fn c07_lines_from_the_middle_of_a_key_are_hidden() {
    for key in [RSA, OPENSSH] {
        let lines: Vec<&str> = key.lines().collect();
        let shown =
            |from: usize, to: usize| MASK.hide(&format!("a\n{}\nb", lines[from..to].join("\n"))).into_owned();
        assert_eq!(shown(1, 3), "a\n***\nb", "two lines");
        assert_eq!(shown(1, 5), "a\n***\nb", "all but the first");
        assert_eq!(shown(3, 5), "a\n***\nb", "the last two");
        // A line that a window cut in its middle.
        let cut = format!("{}\n{}\n{}", &lines[1][20..], lines[2], lines[3]);
        assert_eq!(MASK.hide(&cut), "***");
    }
}

#[test]
fn c07_a_key_that_was_encoded_again_is_hidden() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let encoded = STANDARD.encode(format!("-----BEGIN RSA PRIVATE KEY-----\n{RSA}\n"));
    assert_eq!(MASK.hide(&format!("client-data: {encoded}\nnext")), "client-data: ***\nnext");
    let wrapped: Vec<&str> =
        encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    assert_eq!(MASK.hide(&format!("a\n{}\nb", wrapped.join("\n"))), "a\n***\nb");
}

#[test]
fn c07_public_blocks_and_other_data_stay() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let wrap = |text: &str, width: usize| {
        text.as_bytes()
            .chunks(width)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let random: Vec<u8> = (0..600_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let data = STANDARD.encode(&random);
    let image = STANDARD.encode([b"\x89PNG\r\n\x1a\n".as_slice(), &random].concat());
    let prose = STANDARD.encode("Plain words of 7 kinds, in Lines and UPPER case. ".repeat(9));
    let middle = RSA.lines().skip(1).collect::<Vec<_>>().join("\n");
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for text in [
        format!("a\n{CERTIFICATE}\nb"),
        format!("a\n{PUBLIC}\nb"),
        format!("-----BEGIN CERTIFICATE-----\n{middle}\n-----END CERTIFICATE-----"),
        format!("-----BEGIN PGP SIGNATURE-----\n\n{middle}\n=abcd\n-----END PGP SIGNATURE-----"),
        format!("{middle}\n-----END CERTIFICATE-----"),
        format!("{{\"ca\":\"{}\\n-----END CERTIFICATE-----\\n\"}}", middle.replace('\n', "\\n")),
        wrap(&data, 76),
        wrap(&image, 64),
        wrap(&prose, 64),
        format!("{hash}\n{hash}\n{hash}"),
        format!("{hash}  a.txt\n{hash}  b.txt"),
        format!("{}\n{}", hash.to_uppercase(), hash.to_uppercase()),
        format!(
            "\"integrity\": \"sha512-{}==\",\n\"integrity\": \"sha512-{}==\",",
            &data[..86],
            &data[86..172]
        ),
        RSA.lines().nth(1).unwrap().to_owned(),
    ] {
        assert_eq!(MASK.hide(&text), text);
    }
}

#[test]
fn c07_quoted_values_and_our_own_keys_are_hidden_whole() {
    for (text, hidden) in [
        ("SECRET='quoted value' next", "SECRET='***' next"),
        ("PASSWORD=\"two words\"", "PASSWORD=\"***\""),
        ("export DB_PASSWORD='it is two words' x", "export DB_PASSWORD='***' x"),
        ("password: \"correct horse battery\"", "password: \"***\""),
        ("used tl_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4 here", "used *** here"),
        ("{\"k\":\"tl_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4\"}", "{\"k\":\"***\"}"),
    ] {
        assert_eq!(MASK.hide(text), hidden);
        assert_eq!(STRICT.hide(text), hidden);
    }
}
