//! Searches in a small catalogue of invented tools.

use proptest::prelude::*;
use trunkline_search::{Argument, Document, Index};

const TOOLS: [(&str, &str, &str); 14] = [
    ("harbour", "create_berth", "Create a berth for a ship."),
    ("harbour", "delete_berth", "Delete a berth. Its bookings are lost."),
    ("harbour", "list_berths", "List all berths with their lengths."),
    ("harbour", "getTideForecast", "Tide forecast of the next days."),
    ("library", "search_books", "Search books by title or author."),
    ("library", "lend_book", "Lend a book to a reader."),
    ("library", "export_catalogue", "Export the catalogue as a spreadsheet."),
    ("PostOffice", "send_parcel", "Send a parcel to an address."),
    ("PostOffice", "track_parcel", "Where a parcel is now."),
    ("mill", "mill_list_sacks", "List the sacks in store."),
    ("mill", "mill_grind", "Grind grain to flour."),
    ("weather", "query_weather", "查询指定城市的天气"),
    ("scope", "run_starql", "Run a StarQL statement against the sky survey."),
    ("observatory", "point_telescope", "Point the telescope at a star."),
];

fn index() -> Index {
    let grind = [
        Argument { name: "fineness", description: "How fine the flour gets", values: vec!["coarse", "fine"] },
        Argument { name: "grain", description: "", values: vec!["wheat", "rye", "spelt"] },
    ];
    Index::new(TOOLS.iter().map(|(server, name, description)| Document {
        server,
        name,
        description,
        arguments: if *name == "mill_grind" { &grind } else { &[] },
        ..Document::default()
    }))
}

fn first(question: &str) -> Option<&'static str> {
    index().search(question, 5, |_| true).first().map(|hit| TOOLS[hit.document].1)
}

#[test]
fn plain_words_find_names_and_descriptions() {
    for (question, tool) in [
        ("tide forecast", "getTideForecast"),
        ("track parcel", "track_parcel"),
        ("list berths", "list_berths"),
    ] {
        assert_eq!(first(question), Some(tool), "{question}");
    }
}

#[test]
fn synonyms_find_what_other_words_mean() {
    for (question, tool) in [
        ("remove a berth", "delete_berth"),
        ("new berth", "create_berth"),
        ("save the catalogue as excel", "export_catalogue"),
        ("post a parcel", "send_parcel"),
    ] {
        assert_eq!(first(question), Some(tool), "{question}");
    }
}

#[test]
fn misspelt_words_are_read() {
    for (question, tool) in [
        ("delte bertsh", "delete_berth"),
        ("pracel trakc", "track_parcel"),
        ("telesocpe", "point_telescope"),
        ("parcels trac", "track_parcel"),
    ] {
        assert_eq!(first(question), Some(tool), "{question}");
    }
}

#[test]
fn other_languages_find_english_tools() {
    for (question, tool) in [
        ("ein Buch suchen", "search_books"),
        ("chercher un livre", "search_books"),
        ("buscar libros", "search_books"),
        ("procurar livros", "search_books"),
        ("cercare un libro", "search_books"),
        ("поиск книги", "search_books"),
        ("搜索图书", "search_books"),
        ("本を検索", "search_books"),
        ("책 검색", "search_books"),
    ] {
        assert_eq!(first(question), Some(tool), "{question}");
    }
}

#[test]
fn texts_without_spaces_are_found_in_their_own_script() {
    assert_eq!(first("城市天气"), Some("query_weather"));
    assert_eq!(first("weather"), Some("query_weather"));
}

#[test]
fn arguments_and_their_values_are_searched() {
    assert_eq!(first("coarse or fine"), Some("mill_grind"));
    assert_eq!(first("rye"), Some("mill_grind"));
}

#[test]
fn words_with_humps_are_found_whole_and_in_parts() {
    assert_eq!(first("starql"), Some("run_starql"));
    assert_eq!(first("StarQL"), Some("run_starql"));
    let hits = index().search("postoffice", 5, |_| true);
    assert!(hits.iter().all(|hit| TOOLS[hit.document].0 == "PostOffice"), "{hits:?}");
    assert_eq!(hits.len(), 2);
}

#[test]
fn a_named_server_comes_first() {
    assert_eq!(first("mill list"), Some("mill_list_sacks"));
    assert_eq!(first("harbour list"), Some("list_berths"));
}

#[test]
fn a_question_of_nothing_finds_nothing() {
    for question in ["", "   ", "?!", "qqqqqqqqqqq"] {
        assert_eq!(index().search(question, 5, |_| true), [], "{question}");
    }
    assert_eq!(Index::new([]).search("anything", 5, |_| true), []);
}

proptest! {
    #[test]
    fn any_question_is_answered_alike_within_limit_and_filter(question in ".{0,300}", most in 0_usize..8) {
        let index = index();
        let odd = |document: usize| document % 2 == 1;
        let hits = index.search(&question, most, odd);
        prop_assert!(hits.len() <= most);
        prop_assert!(hits.iter().all(|hit| odd(hit.document) && hit.score.is_finite() && hit.score > 0.0));
        prop_assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        prop_assert_eq!(hits, Index::search(&self::index(), &question, most, odd));
    }

    #[test]
    fn any_text_can_be_indexed_and_found_by_its_name(name in "[a-z]{4,9}(_[a-z]{4,9}){0,3}", text in ".{0,200}") {
        let document = Document { name: &name, description: &text, ..Document::default() };
        let hits = Index::new([document]).search(&name, 1, |_| true);
        prop_assert_eq!(hits.len(), 1);
    }
}
