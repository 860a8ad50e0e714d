//! The character widths of the standard fonts, which files may leave out because every PDF reader has
//! these fonts.

use super::encoding::listed;

/// Each line is a character and its width, in thousandths of the font size, in Helvetica,
/// Helvetica-Bold, Times-Roman, Times-Bold, Times-Italic and Times-BoldItalic.
const WIDTHS: &str = include_str!("standard_widths.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandardFont {
    /// All characters have the same width.
    Courier,
    /// The index of this font among the widths of each character.
    Proportional(usize),
    Symbol,
    Dingbats,
}

impl StandardFont {
    /// The font of that name, or the standard font that has the same widths.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?;
        // A font that is only partly embedded has six letters and a plus sign before its name.
        let name = name.split_once('+').map_or(name, |(_, name)| name);
        let has = |part: &str| name.contains(part);
        let bold = usize::from(has("Bold"));
        if name.starts_with("Courier") {
            Some(Self::Courier)
        } else if name.starts_with("Helvetica") || name.starts_with("Arial") {
            // Narrow and black variants have other widths.
            (!has("Narrow") && !has("Black") && !has("Unicode")).then_some(Self::Proportional(bold))
        } else if name.starts_with("Times") {
            let italic = usize::from(has("Italic") || has("Oblique"));
            Some(Self::Proportional(2 + bold + 2 * italic))
        } else if name.starts_with("Symbol") {
            Some(Self::Symbol)
        } else if name.starts_with("ZapfDingbats") {
            Some(Self::Dingbats)
        } else {
            None
        }
    }

    /// The width of a character in thousandths of the font size.
    pub(super) fn width(self, character: char) -> Option<f64> {
        match self {
            Self::Courier => Some(600.0),
            Self::Proportional(place) => {
                let code = format!("{:04X}", u32::from(character));
                listed(WIDTHS, &code)?.split(' ').nth(place)?.parse().ok()
            }
            Self::Symbol | Self::Dingbats => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn finds_the_widths_of_a_font_by_its_name() {
        for (name, character, width) in [
            ("Helvetica", 'A', Some(667.0)),
            ("Helvetica-BoldOblique", 'A', Some(722.0)),
            ("Arial,Bold", 'i', Some(278.0)),
            ("Times-Roman", 'A', Some(722.0)),
            ("TimesNewRomanPS-BoldMT", 'A', Some(722.0)),
            ("Times-Italic", 'A', Some(611.0)),
            ("XYZABC+Times-BoldItalic", 'A', Some(667.0)),
            ("Courier-Oblique", '\u{4e2d}', Some(600.0)),
            ("Helvetica", '\u{4e2d}', None),
        ] {
            let font = StandardFont::named(name.as_bytes());
            assert_eq!(font.and_then(|it| it.width(character)), width, "{name}");
        }
        assert_eq!(StandardFont::named(b"CMR10"), None);
        assert_eq!(StandardFont::named(b"ArialNarrow"), None);
    }

    #[test]
    fn has_six_widths_for_every_character() {
        for line in WIDTHS.lines() {
            let (code, widths) = line.split_once(' ').unwrap_or_default();
            assert_eq!(listed(WIDTHS, code), Some(widths));
            assert_eq!(widths.split(' ').filter(|it| it.parse::<u32>().is_ok()).count(), 6);
        }
    }
}
