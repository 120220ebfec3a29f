//! The ruling lines of pages: strokes and thin filled shapes, horizontal and vertical.

use unpdf::parser::backend::{ContentOp, PageBox, PdfBackend, PdfValue, RawBackend};

/// A straight line along one axis. `at` is its position on the other axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) at: f32,
    pub(super) from: f32,
    pub(super) to: f32,
}

/// The ruling lines of a page, measured from its top left corner.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::read::pdf) struct PageRules {
    pub(super) horizontal: Vec<Rule>,
    pub(super) vertical: Vec<Rule>,
}

/// Thicker shapes are areas, in points.
const MAX_THICKNESS: f32 = 3.0;
/// Shorter lines are ticks and dots, in points.
const MIN_LENGTH: f32 = 4.0;
/// Lines on the same axis that are this close are one line, in points.
const JOINED: f32 = 3.0;
/// A page with more lines is a drawing.
const MAX_RULES: usize = 20_000;
/// Graphics states that a page may save; deeper ones are no honest page's.
const MAX_STATES: usize = 256;

impl PageRules {
    /// The rules of all pages; none if the file cannot be opened.
    pub(in crate::read::pdf) fn of_document(bytes: &[u8], password: Option<&str>) -> Vec<Self> {
        let Ok(file) = RawBackend::load_bytes_with_password(bytes, password) else { return Vec::new() };
        let pages = file.pages();
        let last =
            pages.keys().next_back().copied().unwrap_or(0).min(u32::try_from(pages.len()).unwrap_or(0));
        let page = |number: u32| {
            let page = *pages.get(&number)?;
            // The boxes of text on a turned page are not in the coordinates of its lines.
            if file.page_rotation(page) != 0 {
                return None;
            }
            let content = file.decode_content(&file.page_content(page).ok()?).ok()?;
            Some(Self::of_content(&content, file.crop_box(page)))
        };
        (1..=last).map(|number| page(number).unwrap_or_default()).collect()
    }

    fn of_content(content: &[ContentOp], visible: PageBox) -> Self {
        let mut pen =
            Pen { rules: Self::default(), visible, matrix: IDENTITY, saved: Vec::new(), path: Vec::new() };
        for operation in content {
            pen.draw(operation);
            if pen.rules.horizontal.len() + pen.rules.vertical.len() > MAX_RULES {
                return Self::default();
            }
        }
        Self { horizontal: joined(pen.rules.horizontal), vertical: joined(pen.rules.vertical) }
    }
}

type Point = (f32, f32);
const IDENTITY: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// Follows the operators of a content stream that draw lines.
struct Pen {
    rules: PageRules,
    visible: PageBox,
    matrix: [f32; 6],
    saved: Vec<[f32; 6]>,
    /// The subpaths of the current path, each with its corners.
    path: Vec<Vec<Point>>,
}

impl Pen {
    fn draw(&mut self, operation: &ContentOp) {
        let numbers: Vec<f32> = operation.operands.iter().filter_map(number).collect();
        match (operation.operator.as_str(), numbers.as_slice()) {
            ("q", _) if self.saved.len() < MAX_STATES => self.saved.push(self.matrix),
            ("Q", _) => self.matrix = self.saved.pop().unwrap_or(self.matrix),
            ("cm", numbers) => {
                if let Ok(inner) = numbers.try_into() {
                    self.matrix = product(inner, self.matrix);
                }
            }
            ("m", &[x, y]) => self.path.push(vec![self.place(x, y)]),
            // Only the end of a curve matters: it is no ruling line itself.
            ("l", &[x, y]) | ("c", &[_, _, _, _, x, y]) | ("v" | "y", &[_, _, x, y]) => {
                let corner = self.place(x, y);
                if let Some(subpath) = self.path.last_mut() {
                    subpath.push(corner);
                }
            }
            ("h", _) => self.close(),
            ("re", &[x, y, width, height]) => {
                let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)];
                self.path.push(corners.map(|(x, y)| self.place(x, y)).to_vec());
            }
            ("S" | "B" | "B*", _) => self.stroke(),
            ("s" | "b" | "b*", _) => {
                self.close();
                self.stroke();
            }
            ("f" | "F" | "f*", _) => self.fill(),
            ("n", _) => self.path.clear(),
            _ => {}
        }
    }

    /// A point from the top left corner of the page.
    fn place(&self, x: f32, y: f32) -> Point {
        let (across, up) = transformed(self.matrix, (x, y));
        (across - self.visible.llx, self.visible.ury - up)
    }

    fn close(&mut self) {
        if let Some(subpath) = self.path.last_mut()
            && let Some(first) = subpath.first().copied()
        {
            subpath.push(first);
        }
    }

    fn stroke(&mut self) {
        for subpath in std::mem::take(&mut self.path) {
            for pair in subpath.windows(2) {
                self.add(&[pair[0], pair[1]]);
            }
        }
    }

    fn fill(&mut self) {
        for subpath in std::mem::take(&mut self.path) {
            self.add(&subpath);
        }
    }

    /// Adds the line that a shape is, if it is thin.
    fn add(&mut self, corners: &[Point]) {
        let Some(&first) = corners.first() else { return };
        let edges = corners.iter().fold((first, first), |(low, high), (x, y)| {
            ((low.0.min(*x), low.1.min(*y)), (high.0.max(*x), high.1.max(*y)))
        });
        let ((left, top), (right, bottom)) = edges;
        let is_visible =
            right >= 0.0 && bottom >= 0.0 && left <= self.visible.width() && top <= self.visible.height();
        if !is_visible {
            return;
        }
        if bottom - top <= MAX_THICKNESS && right - left >= MIN_LENGTH {
            let rule = Rule { at: f32::midpoint(top, bottom), from: left, to: right };
            self.rules.horizontal.push(rule);
        } else if right - left <= MAX_THICKNESS && bottom - top >= MIN_LENGTH {
            let rule = Rule { at: f32::midpoint(left, right), from: top, to: bottom };
            self.rules.vertical.push(rule);
        }
    }
}

/// Puts pieces of one line together: borders are drawn cell by cell.
fn joined(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.retain(|rule| [rule.at, rule.from, rule.to].iter().all(|value| value.is_finite()));
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    let mut lines: Vec<Rule> = Vec::new();
    let mut start = 0;
    while start < rules.len() {
        let near = |rule: &&Rule| rule.at - rules[start].at <= JOINED / 2.0;
        let end = start + rules[start..].iter().take_while(near).count();
        let mut of_line = rules[start..end].to_vec();
        of_line.sort_by(|a, b| a.from.total_cmp(&b.from));
        let at = of_line[of_line.len() / 2].at;
        let mut open: Option<Rule> = None;
        for piece in of_line {
            match &mut open {
                Some(line) if piece.from <= line.to + JOINED => line.to = line.to.max(piece.to),
                _ => lines.extend(open.replace(Rule { at, ..piece })),
            }
        }
        lines.extend(open);
        start = end;
    }
    lines
}

/// A point after a transformation.
fn transformed(matrix: [f32; 6], (x, y): Point) -> Point {
    (matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5])
}

/// The transformation by `inner`, then by `outer`.
fn product(inner: [f32; 6], outer: [f32; 6]) -> [f32; 6] {
    let origin = transformed(outer, (0.0, 0.0));
    let axis = |x, y| {
        let end = transformed(outer, (x, y));
        (end.0 - origin.0, end.1 - origin.1)
    };
    let (first, second) = (axis(inner[0], inner[1]), axis(inner[2], inner[3]));
    let moved = transformed(outer, (inner[4], inner[5]));
    [first.0, first.1, second.0, second.1, moved.0, moved.1]
}

fn number(value: &PdfValue) -> Option<f32> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "coordinates are small")]
        PdfValue::Integer(value) => Some(*value as f32),
        PdfValue::Real(value) => Some(*value),
        _ => None,
    }
}
