//! What the gate is told of each tool.

use toolgate_core::{
    Facts,
    tool::{Binding, Effect, Example, Limits, Permission, WhenDenied},
};

/// Group, example, and what it does in Japanese.
fn words(tool: &str) -> (&'static str, &'static str, &'static str) {
    const RUN: &str = r#"{"provider":"files","activity_id":"act_0f3c9a61b7d24e58a1c06b9e7d3f5a42"}"#;
    match tool {
        "connect_provider" => {
            ("connections", r#"{"provider":"files"}"#, "アクティビティの提供元に接続し、ファイルを取り込みます")
        }
        "get_connection_status" => ("connections", r#"{"provider":"files"}"#, "提供元との接続状態を取得します"),
        "disconnect_provider" => ("connections", r#"{"provider":"files"}"#, "提供元との接続を解除します"),
        "get_activities" => ("fitness", r#"{"limit":5,"sport_type":"run"}"#, "アクティビティを新しい順に取得します"),
        "get_athlete" => ("fitness", r#"{"provider":"files"}"#, "アスリートの情報を取得します"),
        "get_stats" => ("fitness", r#"{"provider":"files"}"#, "全アクティビティの合計を取得します"),
        "get_activity_intelligence" => ("analysis", RUN, "アクティビティの要約、気づき、推奨事項を取得します"),
        "analyze_activity" => ("analysis", RUN, "アクティビティを分析します"),
        "calculate_metrics" => ("analysis", RUN, "アクティビティの指標を計算します"),
        "analyze_performance_trends" => {
            ("analysis", r#"{"provider":"files","timeframe":"quarter","metric":"pace"}"#, "指標の推移を回帰分析します")
        }
        "compare_activities" => (
            "analysis",
            r#"{"provider":"files","activity_id":"act_0f3c9a61b7d24e58a1c06b9e7d3f5a42","comparison_type":"recent"}"#,
            "アクティビティを他のものと比較します",
        ),
        "detect_patterns" => ("analysis", r#"{"weeks":8}"#, "トレーニングの傾向を検出します"),
        "suggest_goals" => ("goals", r#"{"provider":"files"}"#, "最近の活動から目標を提案します"),
        "set_goal" => ("goals", r#"{"goal_type":"distance","target_value":100,"title":"100 km"}"#, "目標を設定します"),
        "calculate_daily_nutrition" => (
            "nutrition",
            r#"{"weight_kg":70,"height_cm":175,"age":30,"gender":"male","activity_level":"very_active","training_goal":"maintenance"}"#,
            "一日に必要なエネルギーと栄養素を計算します",
        ),
        "search_food" => ("nutrition", r#"{"query":"banana"}"#, "食品を検索します"),
        "get_food_details" => ("nutrition", r#"{"fdc_id":173944}"#, "食品 100 g の栄養素を取得します"),
        "analyze_meal_nutrition" => {
            ("nutrition", r#"{"ingredients":[{"fdc_id":173944,"amount_g":120}]}"#, "食事の栄養素を合計します")
        }
        "save_recipe" => (
            "recipes",
            r#"{"name":"Porridge","servings":1,"instructions":["Boil"],"ingredients":[{"name":"Oats","fdc_id":173904,"amount_g":50}]}"#,
            "レシピを保存します",
        ),
        "delete_recipe" => {
            ("recipes", r#"{"recipe_id":"recipe_0f3c9a61b7d24e58a1c06b9e7d3f5a42"}"#, "レシピを削除します")
        }
        "get_configuration_catalog" => ("configuration", "{}", "設定できる項目の一覧を取得します"),
        "get_configuration_profiles" => ("configuration", "{}", "設定プロファイルの一覧を取得します"),
        "validate_configuration" => ("configuration", r#"{"parameters":{"max_hr":190}}"#, "設定値を検証します"),
        _ => ("configuration", r#"{"parameters":{"max_hr":190,"resting_hr":55}}"#, "自分の設定を変更します"),
    }
}

/// Tools that are about no user: the same answer for everyone.
const OF_NOBODY: [&str; 7] = [
    "calculate_daily_nutrition",
    "search_food",
    "get_food_details",
    "analyze_meal_nutrition",
    "get_configuration_catalog",
    "get_configuration_profiles",
    "validate_configuration",
];
const OPEN: [&str; 3] = ["get_configuration_catalog", "get_configuration_profiles", "validate_configuration"];
const CHANGING: [&str; 6] = [
    "connect_provider",
    "disconnect_provider",
    "set_goal",
    "save_recipe",
    "delete_recipe",
    "update_user_configuration",
];

pub(super) fn facts(tool: &str) -> Facts {
    let (group, example, description) = words(tool);
    let changing = CHANGING.contains(&tool);
    let of_user = !OF_NOBODY.contains(&tool);
    let importing = tool == "connect_provider";
    Facts {
        effect: if changing { Effect::Write } else { Effect::Read },
        permission: if OPEN.contains(&tool) { Permission::Unauthenticated } else { Permission::SignedIn },
        // what shows strangers what there is; not what connects or changes
        advertised: !changing && tool != "get_connection_status",
        min_plan: matches!(tool, "analyze_performance_trends" | "detect_patterns").then(|| "professional".to_owned()),
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some(group.to_owned()),
        bind: of_user.then(|| ("user_id".to_owned(), Binding::User)).into_iter().collect(),
        // files are large and take their time; what is in them is nobody's business but the user's
        limits: if importing {
            Limits {
                timeout_ms: Some(300_000),
                argument_bytes: Some(4 << 20),
                concurrency: Some(4),
                caller_concurrency: Some(1),
                ..Limits::default()
            }
        } else {
            Limits::default()
        },
        redact: importing.then(|| "/files".to_owned()).into_iter().collect(),
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}
