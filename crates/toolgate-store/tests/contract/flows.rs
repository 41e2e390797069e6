use toolgate_store::{ApprovalState, Binding, Change, Flow, FlowFault, NewFlow, Paging, Scope, Store};

use crate::{
    approvals::{asked, binding, granted, yes},
    bed::{Bed, next},
};

pub(crate) fn flow(owner: &str, opened: i64) -> NewFlow {
    NewFlow {
        name: "rename-docs".to_owned(),
        owner: owner.to_owned(),
        tenant: None,
        allowlist: None,
        opened,
        expires: opened + 1_000,
    }
}

fn ann() -> Scope {
    Scope::principal(None, "user:ann")
}

async fn states(store: &Store, now: i64) -> Vec<(String, ApprovalState)> {
    let page = store.approvals().list(&Scope::Everything, &Default::default(), now, &Paging::default()).await.unwrap();
    let mut states: Vec<_> = page.items.into_iter().map(|one| (one.binding.tool, one.state)).collect();
    states.sort_by(|one, other| one.0.cmp(&other.0));
    states
}

on_both! {
    async fn a_flow_is_open_until_it_expires_or_is_closed(bed: Bed) {
        let flows = bed.open().await.flows();
        let opened = flows.open(flow("user:ann", 10)).await.unwrap();
        assert!(opened.id.starts_with("flow_") && opened.id.len() == 37, "{}", opened.id);
        let expected = Flow {
            id: opened.id.clone(),
            name: "rename-docs".into(),
            owner: "user:ann".into(),
            tenant: None,
            allowlist: None,
            opened: 10,
            expires: 1_010,
            closed: None,
        };
        assert_eq!(opened, expected);
        assert_eq!(flows.get(&ann(), &opened.id).await, Ok(Some(expected.clone())));
        assert!(opened.is_open(1_009) && !opened.is_open(1_010));

        let closed = flows.close(&ann(), &opened.id, 20).await.unwrap();
        assert_eq!(closed, Flow { closed: Some(20), ..expected });
        assert!(!closed.is_open(20));
        assert_eq!(flows.get(&ann(), &opened.id).await, Ok(Some(closed.clone())));

        let again = flows.close(&ann(), &opened.id, 30).await;
        assert_eq!(again, Err(FlowFault::Closed { id: opened.id.clone() }), "the first close stands");
        assert_eq!(flows.get(&ann(), &opened.id).await, Ok(Some(closed)));
        assert_eq!(flows.close(&ann(), "flow_none", 30).await, Err(FlowFault::Unknown { id: "flow_none".into() }));

        let expired = flows.open(flow("user:ann", 10)).await.unwrap();
        assert_eq!(flows.close(&ann(), &expired.id, 5_000).await.unwrap().closed, Some(5_000));
    }

    async fn an_absent_allowlist_is_not_an_empty_one(bed: Bed) {
        let flows = bed.open().await.flows();
        for allowlist in [None, Some(vec![]), Some(vec!["todo.add".to_owned(), "odd \"name\", [é]".to_owned()])] {
            let opened = flows.open(NewFlow { allowlist: allowlist.clone(), ..flow("user:ann", 1) }).await.unwrap();
            assert_eq!(opened.allowlist, allowlist);
            assert_eq!(flows.get(&ann(), &opened.id).await.unwrap().unwrap().allowlist, allowlist);
        }
    }

    async fn a_flow_is_its_owners_and_its_tenants(bed: Bed) {
        let flows = bed.open().await.flows();
        let tenant = |name: &str| Some(name.to_owned());
        let of_a = flows.open(NewFlow { tenant: tenant("a"), ..flow("user:ann", 1) }).await.unwrap();
        let of_none = flows.open(flow("user:ann", 2)).await.unwrap();
        for scope in [
            Scope::principal(None, "user:ann"),
            Scope::principal(Some("b"), "user:ann"),
            Scope::principal(Some("a"), "user:bob"),
            Scope::principal(Some("a"), ""),
            Scope::Tenant(tenant("b")),
            Scope::Tenant(tenant("")),
            Scope::Tenant(None),
        ] {
            assert_eq!(flows.get(&scope, &of_a.id).await, Ok(None), "{scope:?}");
            let page = flows.list(&scope, None, &Paging::default()).await.unwrap();
            assert!(page.items.iter().all(|flow| flow.id != of_a.id), "{scope:?}");
            assert!(flows.close(&scope, &of_a.id, 5).await.is_err(), "{scope:?}");
        }
        for scope in [Scope::principal(Some("a"), "user:ann"), Scope::Tenant(tenant("a")), Scope::Everything] {
            assert_eq!(flows.get(&scope, &of_a.id).await, Ok(Some(of_a.clone())), "{scope:?}");
        }
        let mine = flows.list(&ann(), None, &Paging::default()).await.unwrap().items;
        assert_eq!(mine, [of_none]);
    }

    async fn flows_are_listed_newest_first_page_by_page(bed: Bed) {
        let flows = bed.open().await.flows();
        for n in 0..7 {
            // Several at one time, so that the id has to tell them apart.
            flows.open(flow("user:ann", n / 3)).await.unwrap();
            flows.open(flow("user:bob", n / 3)).await.unwrap();
        }
        let whole = flows.list(&ann(), None, &Paging::default()).await.unwrap();
        assert_eq!((whole.items.len(), &whole.next), (7, &None));
        assert!(whole.items.is_sorted_by(|newer, older| (newer.opened, &newer.id) > (older.opened, &older.id)));
        let (mut paging, mut seen, mut pages) = (Paging { limit: 3, after: None }, Vec::new(), 0);
        loop {
            let page = flows.list(&ann(), None, &paging).await.unwrap();
            assert!(page.items.len() <= 3);
            seen.extend(page.items);
            pages += 1;
            // What is added meanwhile is newer than every page to come.
            flows.open(flow("user:ann", 100)).await.unwrap();
            match page.next {
                Some(mark) => paging.after = Some(mark),
                None => break,
            }
        }
        assert_eq!((seen, pages), (whole.items.clone(), 3));

        flows.close(&ann(), &whole.items[0].id, 5).await.unwrap();
        let open = flows.list(&ann(), Some(1_000), &Paging::default()).await.unwrap().items;
        assert!(open.iter().all(|flow| flow.is_open(1_000)));
        assert_eq!(open.len(), 3 + 3, "three expired, one is closed");
    }

    async fn closing_a_flow_ends_what_it_still_allowed_and_nothing_else(bed: Bed) {
        let store = bed.open().await;
        let (flows, approvals) = (store.flows(), store.approvals());
        let closing = flows.open(flow("user:ann", 0)).await.unwrap();
        let other = flows.open(flow("user:ann", 0)).await.unwrap();
        let within = |tool: &str, flow: &str| {
            let mut new = asked(binding(tool));
            new.binding.flow = Some(flow.to_owned());
            new
        };
        approvals.ask(within("a-pending", &closing.id)).await.unwrap();
        granted(&store, within("b-granted", &closing.id)).await;
        granted(&store, within("c-spent", &closing.id)).await;
        assert!(approvals.take(&within("c-spent", &closing.id).binding, 20).await.unwrap().is_some());
        let mut brief = within("d-expired", &closing.id);
        brief.expires = 15;
        approvals.ask(brief).await.unwrap();
        granted(&store, within("e-elsewhere", &other.id)).await;
        granted(&store, asked(binding("f-without"))).await;

        let mut changes = store.changes();
        let stranger = flows.close(&Scope::principal(None, "user:bob"), &closing.id, 20).await;
        assert_eq!(stranger, Err(FlowFault::Unknown { id: closing.id.clone() }));
        assert_eq!(states(&store, 14).await[0].1, ApprovalState::Pending, "a stranger's close ends nothing");
        flows.close(&ann(), &closing.id, 20).await.unwrap();
        // The answers from before may still be on their way.
        while next(&mut changes).await != (Change::Flow { id: closing.id.clone() }) {}

        use ApprovalState::{Ended, Expired, Granted, Spent};
        let expected = [("a-pending", Ended), ("b-granted", Ended), ("c-spent", Spent), ("d-expired", Expired),
            ("e-elsewhere", Granted), ("f-without", Granted)];
        assert_eq!(states(&store, 14).await, expected.map(|(tool, state)| (tool.to_owned(), state)));
        assert_eq!(approvals.take(&within("b-granted", &closing.id).binding, 20).await, Ok(None));
        assert!(approvals.take(&within("e-elsewhere", &other.id).binding, 20).await.unwrap().is_some());
    }

    async fn nothing_asked_or_granted_while_a_flow_closes_outlives_it(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        for _ in 0..20 {
            let opened = stores[0].flows().open(flow("user:ann", 0)).await.unwrap();
            let within = |tool: &str| asked(Binding { flow: Some(opened.id.clone()), ..binding(tool) });
            let pending = stores[0].approvals().ask(within("pending")).await.unwrap();
            let ask = tokio::spawn({
                let (approvals, new) = (stores[1].approvals(), within("asked"));
                async move { approvals.ask(new).await.ok() }
            });
            let answer = tokio::spawn({
                let (approvals, id) = (stores[1].approvals(), pending.id.clone());
                async move { approvals.answer(&Scope::Everything, &id, yes("user:ann"), 20).await.ok() }
            });
            stores[0].flows().close(&ann(), &opened.id, 20).await.unwrap();
            let asked = ask.await.unwrap();
            answer.await.unwrap();
            for id in [Some(pending.id), asked.map(|one| one.id)].into_iter().flatten() {
                let after = stores[0].approvals().get(&Scope::Everything, &id, 20).await.unwrap().unwrap();
                assert_eq!(after.state, ApprovalState::Ended);
            }
            for tool in ["pending", "asked"] {
                assert_eq!(stores[1].approvals().take(&within(tool).binding, 20).await, Ok(None));
            }
        }
    }

    async fn a_flow_is_closed_once_however_many_try(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let opened = stores[0].flows().open(flow("user:ann", 1)).await.unwrap();
        let closes = (0..32_i64).map(|n| {
            let (flows, id) = (stores[usize::try_from(n).unwrap() % 2].flows(), opened.id.clone());
            tokio::spawn(async move { flows.close(&ann(), &id, 100 + n).await })
        });
        let mut closed = Vec::new();
        for close in closes.collect::<Vec<_>>() {
            closed.extend(close.await.unwrap().ok());
        }
        assert_eq!(closed.len(), 1);
        assert_eq!(stores[1].flows().get(&ann(), &opened.id).await.unwrap().as_ref(), closed.first());
    }
}
