//! Tables: as a grid if their cells are words or they have a head, as blocks if they only arrange a page.

use super::{
    PageStyle,
    lines::{Gap, LineWriter},
};

/// How many cells a table may have that are only there to keep others in their column.
const MAX_FILLED_CELLS: usize = 10_000;
/// How many columns cells of earlier rows can reach into.
const MAX_HELD_COLUMNS: usize = 1_000;
/// The longest cell of several lines that is written as one line.
const MAX_JOINED_BYTES: usize = 1_000;

/// How many columns and rows a cell takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellPlace {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

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
    /// Where the cell that is being read belongs.
    place: CellPlace,
    /// For each column, how many of the next rows a cell of an earlier row reaches into.
    held: Vec<usize>,
    /// How many cells are empty for the sake of others.
    filled: usize,
    /// How many cells the row has that were written in it, and the most that any row has.
    cells_in_row: usize,
    most_cells: usize,
    has_head: bool,
}

impl OpenTable {
    /// Begins a table: `lines` is empty afterwards and takes the table.
    pub(super) fn begin(lines: &mut LineWriter) -> Self {
        Self {
            around: std::mem::take(lines),
            outside: None,
            rows: Vec::new(),
            cell_bytes: 0,
            place: CellPlace { columns: 1, rows: 1 },
            held: Vec::new(),
            filled: 0,
            cells_in_row: 0,
            most_cells: 0,
            has_head: false,
        }
    }

    /// The size in bytes of the text around the table, and of all of the table but what is being read.
    pub(super) fn size(&self) -> usize {
        let outside = self.outside.as_ref().map_or(0, LineWriter::size);
        self.around.size() + outside + self.cell_bytes
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        // Cells of earlier rows that reach into the end of the row before.
        while self.held.len() > self.rows.last().map_or(usize::MAX, Vec::len) {
            self.fill();
        }
        self.held.truncate(self.held.iter().rposition(|it| *it > 0).map_or(0, |it| it + 1));
        self.rows.push(Vec::new());
        self.cells_in_row = 0;
    }

    /// Begins a cell, whose text `lines` takes.
    pub(super) fn begin_cell(&mut self, place: CellPlace, is_head: bool, lines: &mut LineWriter) {
        if self.outside.is_none() {
            self.outside = Some(std::mem::take(lines));
            self.place = place;
            self.has_head |= is_head;
        }
    }

    /// Ends a cell.
    pub(super) fn end_cell(&mut self, lines: &mut LineWriter) {
        let Some(outside) = self.outside.take() else { return };
        let cell = std::mem::replace(lines, outside).finish();
        self.cell_bytes += cell.len();
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        while self.held.get(self.column()).is_some_and(|it| *it > 0) {
            self.fill();
        }
        self.hold();
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
        for _ in 1..self.place.columns.min(MAX_HELD_COLUMNS) {
            if self.filled >= MAX_FILLED_CELLS {
                break;
            }
            self.filled += 1;
            self.hold();
            if let Some(row) = self.rows.last_mut() {
                row.push(String::new());
            }
        }
        self.cells_in_row += 1;
        self.most_cells = self.most_cells.max(self.cells_in_row);
    }

    /// The column of the next cell.
    fn column(&self) -> usize {
        self.rows.last().map_or(0, Vec::len)
    }

    /// Adds an empty cell where a cell of an earlier row is.
    fn fill(&mut self) {
        self.filled += 1;
        if self.filled > MAX_FILLED_CELLS {
            // Too much to be kept in columns.
            self.held.clear();
            return;
        }
        let column = self.column();
        if let Some(held) = self.held.get_mut(column) {
            *held = held.saturating_sub(1);
        }
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    /// Notes that the cell at the next column reaches into rows below.
    fn hold(&mut self) {
        let column = self.column();
        let below = self.place.rows - 1;
        if below > 0 && column < MAX_HELD_COLUMNS && self.filled < MAX_FILLED_CELLS {
            if self.held.len() <= column {
                self.held.resize(column + 1, 0);
            }
            if let Some(held) = self.held.get_mut(column) {
                *held = below;
            }
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
        let has_head = self.has_head;
        let is_in_line = |cell: &String| !cell.contains('\n') || (has_head && may_be_joined(cell));
        let is_grid = self.most_cells > 1 && self.rows.iter().flatten().all(is_in_line);
        if is_grid {
            let between = if style == PageStyle::Markdown { "<br>" } else { " " };
            for cell in self.rows.iter_mut().flatten().filter(|cell| cell.contains('\n')) {
                let lines = cell.lines().map(str::trim).filter(|line| !line.is_empty());
                *cell = lines.collect::<Vec<_>>().join(between);
            }
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

/// Whether the lines of a cell mean the same when they are one line: not those of code and of tables.
fn may_be_joined(cell: &str) -> bool {
    cell.len() <= MAX_JOINED_BYTES && !cell.contains("```") && !cell.contains("--- |")
}

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
