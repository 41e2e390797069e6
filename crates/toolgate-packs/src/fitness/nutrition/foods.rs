//! Common foods and what is in 100 g of each, as data: USDA FoodData Central, SR Legacy.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{failure::Failure, terms, times};

const TABLE: &str = include_str!("foods.json");
const DATA_TYPE: &str = "SR Legacy";

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Food {
    pub(super) fdc_id: i64,
    pub(super) description: String,
    pub(super) energy: f64,
    pub(super) protein: f64,
    pub(super) carbs: f64,
    pub(super) fat: f64,
    pub(super) fiber: f64,
}

#[derive(Deserialize)]
struct Table {
    foods: Vec<Food>,
}

static FOODS: LazyLock<Vec<Food>> =
    LazyLock::new(|| serde_json::from_str::<Table>(TABLE).map(|table| table.foods).unwrap_or_default());

#[derive(Deserialize)]
pub(in crate::fitness) struct Search {
    query: String,
    page_size: Option<usize>,
    page_number: Option<usize>,
}

#[derive(Deserialize)]
pub(in crate::fitness) struct Details {
    fdc_id: i64,
}

pub(super) fn find(fdc_id: i64) -> Option<&'static Food> {
    FOODS.iter().find(|food| food.fdc_id == fdc_id)
}

pub(super) fn missing(fdc_id: i64) -> Failure {
    Failure::not_found(format!("Food with fdc_id {fdc_id} not found. Call search_food for those there are."))
}

/// Foods that have every word of the query, the beginning of a word included: those that begin with it first, then the
/// shorter, then by id.
pub(in crate::fitness) fn search(asked: &Search) -> Result<Value, Failure> {
    let words = terms::asked(&asked.query);
    if words.is_empty() {
        return Err(Failure::invalid("Query must hold a word"));
    }
    let (size, page) = (asked.page_size.unwrap_or(10).max(1), asked.page_number.unwrap_or(1).max(1));
    let mut found: Vec<(bool, usize, &Food)> = FOODS.iter().filter_map(|food| ranked(food, &words)).collect();
    found.sort_by_key(|(leading, length, food)| (!leading, *length, food.fdc_id));
    let total = found.len();
    let foods: Vec<Value> = found.iter().skip(size * (page - 1)).take(size).map(|(_, _, food)| listed(food)).collect();
    Ok(json!({
        "query": asked.query,
        "returned_count": foods.len(),
        "foods": foods,
        "total_hits": total,
        "page_number": page,
        "page_size": size,
        "total_pages": total.div_ceil(size),
        "has_more": size * page < total,
        "searched_at": times::iso(times::now()),
    }))
}

/// Whether it has every word; whether it begins with one; how long it is.
fn ranked<'f>(food: &'f Food, words: &[String]) -> Option<(bool, usize, &'f Food)> {
    let own = terms::stored(&food.description);
    // "banana" finds bananas, and "bananas" a banana
    let matches = |word: &String, own: &String| own.starts_with(word.as_str()) || word.strip_suffix('s') == Some(own);
    words.iter().all(|word| own.iter().any(|own| matches(word, own))).then(|| {
        let leading = own.first().is_some_and(|first| words.iter().any(|word| matches(word, first)));
        (leading, own.len(), food)
    })
}

fn listed(food: &Food) -> Value {
    json!({"fdc_id": food.fdc_id, "description": food.description, "brand_owner": null, "data_type": DATA_TYPE})
}

pub(in crate::fitness) fn details(asked: &Details) -> Result<Value, Failure> {
    let food = find(asked.fdc_id).ok_or_else(|| missing(asked.fdc_id))?;
    let nutrient = |name: &str, amount: f64, unit: &str| json!({"name": name, "amount": amount, "unit": unit});
    Ok(json!({
        "fdc_id": food.fdc_id,
        "description": food.description,
        "data_type": DATA_TYPE,
        "serving_size": 100,
        "serving_size_unit": "g",
        "nutrients": [
            nutrient("Energy", food.energy, "kcal"),
            nutrient("Protein", food.protein, "g"),
            nutrient("Carbohydrate, by difference", food.carbs, "g"),
            nutrient("Total lipid (fat)", food.fat, "g"),
            nutrient("Fiber, total dietary", food.fiber, "g"),
        ],
        "fetched_at": times::iso(times::now()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<i64> {
        let asked = Search { query: query.to_owned(), page_size: Some(50), page_number: None };
        let answer = search(&asked).unwrap();
        answer["foods"].as_array().unwrap().iter().map(|food| food["fdc_id"].as_i64().unwrap()).collect()
    }

    #[test]
    fn the_table_reads_and_its_figures_are_possible() {
        assert!(FOODS.len() >= 40, "{}", FOODS.len());
        assert!(FOODS.is_sorted_by(|one, next| one.fdc_id < next.fdc_id), "each once");
        for food in FOODS.iter() {
            let grams = food.protein + food.carbs + food.fat;
            assert!((0.0..=101.0).contains(&grams) && food.fiber <= food.carbs, "{food:?}");
            // Atwater's factors, which count fibre as any carbohydrate: no figure is of another food
            let energy = 4.0 * (food.protein + food.carbs) + 9.0 * food.fat;
            assert!((energy - food.energy).abs() <= 0.25 * energy.max(20.0), "{food:?}: {energy}");
        }
    }

    #[test]
    fn words_are_found_in_any_order_and_their_plural_too() {
        assert_eq!(found("banana"), [173_944]);
        assert_eq!(found("BANANAS raw"), [173_944]);
        assert_eq!(found("cooked chicken breast"), [171_477]);
        assert_eq!(found("egg")[0], 171_287, "what begins with it comes first");
        assert_eq!(found("no such food"), [0_i64; 0]);
        assert!(search(&Search { query: " ,".to_owned(), page_size: None, page_number: None }).is_err());
    }

    #[test]
    fn pages_are_parts_of_one_order() {
        let page = |number| {
            search(&Search { query: "raw".to_owned(), page_size: Some(7), page_number: Some(number) }).unwrap()
        };
        let all = found("raw");
        let mut paged = Vec::new();
        for number in 1.. {
            let page = page(number);
            assert_eq!(page["total_hits"], all.len());
            paged.extend(page["foods"].as_array().unwrap().iter().map(|food| food["fdc_id"].as_i64().unwrap()));
            if page["has_more"] == false {
                break;
            }
        }
        assert_eq!(paged, all);
        assert_eq!(page(100)["returned_count"], 0);
    }
}
