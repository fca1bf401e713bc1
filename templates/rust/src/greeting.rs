//! The work itself. It knows nothing of ACOR, so that it can be tested and used by itself.

pub fn greeting(who: &str) -> String {
    format!("Hello, {who}!")
}

#[cfg(test)]
mod tests {
    use super::greeting;

    #[test]
    fn it_names_whom_it_greets() {
        assert_eq!(greeting("Ada"), "Hello, Ada!");
    }
}
