//! Tables: as a grid if their cells are words, as blocks if they only arrange a page.

use super::{
    PageStyle,
    lines::{Gap, LineWriter},
};

/// A table that is being read.
#[derive(Debug)]
pub(super) struct OpenTable {
    /// The text around the table.
    around: LineWriter,
    /// While a cell is read, the text of the table outside its cells, such as its caption.
    outside: Option<LineWriter>,
    rows: Vec<Vec<String>>,
    /// The size of the finished cells in bytes.
    cell_bytes: usize,
}

impl OpenTable {
    /// Begins a table: `lines` is empty afterwards and takes the table.
    pub(super) fn begin(lines: &mut LineWriter) -> Self {
        Self { around: std::mem::take(lines), outside: None, rows: Vec::new(), cell_bytes: 0 }
    }

    /// The size in bytes of the text around the table, and of all of the table but what is being read.
    pub(super) fn size(&self) -> usize {
        let outside = self.outside.as_ref().map_or(0, LineWriter::size);
        self.around.size() + outside + self.cell_bytes
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Begins a cell, whose text `lines` takes.
    pub(super) fn begin_cell(&mut self, lines: &mut LineWriter) {
        if self.outside.is_none() {
            self.outside = Some(std::mem::take(lines));
        }
    }

    /// Ends a cell.
    pub(super) fn end_cell(&mut self, lines: &mut LineWriter) {
        let Some(outside) = self.outside.take() else { return };
        let cell = std::mem::replace(lines, outside).finish();
        self.cell_bytes += cell.len();
        match self.rows.last_mut() {
            Some(row) => row.push(cell),
            None => self.rows.push(vec![cell]),
        }
    }

    /// Ends the table: writes it to the text around it, which `lines` is again.
    pub(super) fn end(mut self, style: PageStyle, lines: &mut LineWriter) {
        self.end_cell(lines);
        let outside = std::mem::replace(lines, self.around).finish();
        if !outside.is_empty() {
            lines.gap(Gap::Paragraph);
            lines.put_lines(outside.split('\n'));
        }
        lines.gap(Gap::Paragraph);
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let is_grid = columns > 1 && !self.rows.iter().flatten().any(|cell| cell.contains('\n'));
        if is_grid {
            write_grid(&self.rows, columns, style, lines);
        } else {
            for cell in self.rows.iter().flatten().filter(|cell| !cell.is_empty()) {
                let gap = if cell.contains('\n') { Gap::Paragraph } else { Gap::Line };
                lines.gap(gap);
                lines.put_lines(cell.split('\n'));
                lines.gap(gap);
            }
        }
        lines.gap(Gap::Paragraph);
    }
}

/// How many cells may be missing in all rows together and still be written as empty ones.
const MAX_FILLED_CELLS: usize = 10_000;

fn write_grid(rows: &[Vec<String>], columns: usize, style: PageStyle, lines: &mut LineWriter) {
    let missing: usize = rows.iter().map(|row| columns - row.len()).sum();
    let width = |row: &[String]| if missing <= MAX_FILLED_CELLS { columns } else { row.len() };
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().map(String::as_str).chain(std::iter::repeat("")).take(width(row));
        lines.gap(Gap::Line);
        match style {
            PageStyle::Text => {
                let line = cells.collect::<Vec<_>>().join(" | ");
                lines.put(line.trim_end());
            }
            PageStyle::Markdown => {
                let cells: Vec<_> = cells.map(|it| it.replace('|', "\\|")).collect();
                lines.put(&format!("| {} |", cells.join(" | ")));
                if number == 0 {
                    lines.gap(Gap::Line);
                    lines.put(&format!("|{}", " --- |".repeat(width(row))));
                }
            }
        }
    }
}
