//! A stack whose first elements need no allocation.

/// Elements in an inline array, until it is full.
#[derive(Debug)]
pub(super) struct Stack<T, const FEW: usize> {
    few: [T; FEW],
    len: usize,
    /// All elements, once the array is full.
    many: Vec<T>,
}

impl<T: Copy + Default, const FEW: usize> Stack<T, FEW> {
    #[inline]
    pub(super) fn new() -> Self {
        Self { few: [T::default(); FEW], len: 0, many: Vec::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        if self.many.is_empty() { &self.few[..self.len] } else { &self.many }
    }

    #[inline]
    pub(super) fn last(&self) -> Option<T> {
        self.as_slice().last().copied()
    }

    #[inline]
    pub(super) fn push(&mut self, element: T) {
        match self.few.get_mut(self.len) {
            Some(place) if self.many.is_empty() => *place = element,
            _ => self.push_many(element),
        }
        self.len += 1;
    }

    #[cold]
    fn push_many(&mut self, element: T) {
        if self.many.is_empty() {
            self.many.reserve(2 * FEW);
            self.many.extend_from_slice(&self.few[..self.len]);
        }
        self.many.push(element);
    }

    /// Keeps the first `len` elements.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        self.many.truncate(len);
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_a_vector_holds(steps in prop::collection::vec(prop::option::weighted(0.8, any::<u8>()), 0..60), cut in 0_usize..9) {
            let (mut stack, mut vector) = (Stack::<u8, 4>::new(), Vec::new());
            for step in steps {
                if let Some(element) = step {
                    stack.push(element);
                    vector.push(element);
                } else {
                    let len = vector.len().saturating_sub(cut);
                    stack.truncate(len);
                    vector.truncate(len);
                }
                prop_assert_eq!(stack.as_slice(), vector.as_slice());
                prop_assert_eq!((stack.len(), stack.last()), (vector.len(), vector.last().copied()));
            }
        }
    }
}
