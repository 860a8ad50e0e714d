//! Names chosen by people and models, as parts of keys. Control characters are escaped, because not every
//! store accepts them; the rest stays readable for a person who opens the store.

/// The name with control characters and `%` escaped. A prefix of a name becomes a prefix of the escaped name,
/// so names can be listed by prefix.
pub(super) fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character == '%' || character.is_control() {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                text.push_str(&format!("%{byte:02X}"));
            }
        } else {
            text.push(character);
        }
    }
    text
}

/// Reverses [`escaped`]. Text that is not a valid escape stays as it is.
pub(super) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let escape = (*first == b'%')
            .then(|| behind.split_at_checked(2))
            .flatten()
            .and_then(|(digits, after)| Some((byte_of(digits)?, after)));
        let (byte, after) = escape.unwrap_or((*first, behind));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn byte_of(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    digits.bytes().all(|it| it.is_ascii_hexdigit()).then_some(())?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_control_characters_and_percent_signs_are_escaped() {
        assert_eq!(escaped("a/b ü \"%\n\u{0}\u{85}"), "a/b ü \"%25%0A%00%C2%85");
        assert_eq!(unescaped("100% sure %zz %4"), "100% sure %zz %4");
    }

    proptest! {
        #[test]
        fn unescaping_restores_every_name(name in any::<String>(), more in any::<String>()) {
            prop_assert_eq!(unescaped(&escaped(&name)), name.clone());
            let longer = name.clone() + &more;
            prop_assert!(escaped(&longer).starts_with(&escaped(&name)));
            prop_assert!(!escaped(&name).contains(char::is_control));
        }
    }
}
