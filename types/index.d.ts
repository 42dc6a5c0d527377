// Made from the schemas of the interface by npm run types. Types of answers, events and changes: import type { … } from 'tallyman/types'.
export interface paths {
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listEvents"];
        put?: never;
        /**
         * Accept ERP events
         * @description CloudEvents 1.0 over HTTP: binary (`ce-*` headers, data as body), structured (`application/cloudevents+json`) or batch (`application/cloudevents-batch+json`, up to 1000). Without `ce-*` headers, `application/json` is read as structured or batch mode: an event, or an array. Answers once all of them are stored; if one is invalid, none is accepted. A repeated source and id with the same body is a duplicate and gets the answer of the first. With `dryRun=true` nothing is stored: the answer is 200 with the effect that each event would have now. Needs the scope `events:write`.
         */
        post: operations["createEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{source}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An event with its commands
         * @description Needs the scope `read`.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{source}/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a waiting event
         * @description It creates no command. Stored with actor, time and reason; its source and id stay reserved. Possible only for an event in the state `received`. Needs the scope `operate`.
         */
        post: operations["rejectEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Proposed events, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listProposals"];
        put?: never;
        /**
         * Propose an event
         * @description Nothing happens until a person approves it. An event that would be refused now is refused (422). The answer has the effect that it would have. Needs the scope `propose`.
         */
        post: operations["createProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A proposed event, with the effect that it would have now
         * @description Needs the scope `read`.
         */
        get: operations["getProposal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a proposed event: it is posted
         * @description If the event is refused now (422), the proposal stays open. The approval can be repeated: the event is accepted once. Needs the scope `operate`.
         */
        post: operations["approveProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a proposed event
         * @description Needs the scope `operate`.
         */
        post: operations["rejectProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Commands, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A command with its attempts, evidence and decisions
         * @description Needs the scope `read`.
         */
        get: operations["getCommand"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide: retry
         * @description It was not applied and must be sent again. If a part of it was applied, decide line by line instead. Stored with actor, time and reason. Possible for every command that is not settled. Needs the scope `operate`.
         */
        post: operations["retryCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands/{id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide: confirm
         * @description It was applied: its units count as done. Stored with actor, time and reason. Possible for every command that is not settled. Needs the scope `operate`.
         */
        post: operations["confirmCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide: reject
         * @description It was not applied and must not be: its units are released. Stored with actor, time and reason. Possible for every command that is not settled. Needs the scope `operate`.
         */
        post: operations["rejectCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/commands/{id}/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide line by line
         * @description For the units of each line: applied, not applied (and must not be), or to be sent again. Every unit of the command needs one verdict; the order ledger is updated. Needs the scope `operate`.
         */
        post: operations["decideCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search orders
         * @description Needs the scope `read`.
         */
        get: operations["listOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{purchaseOrderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An order with lines, unit ledger, commands and history
         * @description With `at`: the order as it was known then, from its kept versions. `commands`, `history` and `open` are of that time too; `ledger` is null. The problem `not-yet-known` says when the order was first seen; `version-not-kept`: the version of that time was removed or erased. Needs the scope `read`.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{purchaseOrderId}/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show an order's buyer
         * @description For sessions, which get orders without the buyer. The request is audited. Needs the scope `read`.
         */
        post: operations["revealOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The main numbers
         * @description Needs the scope `read`.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/order-states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders of the last days, by state
         * @description Each number is that of `GET /v1/orders` with `createdFrom`, and with `open=true` or `outcome`. Needs the scope `read`.
         */
        get: operations["getOrderStates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pick-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Units to ship, by SKU
         * @description Of open orders that the seller ships, the earliest first. Needs the scope `read`.
         */
        get: operations["getPickList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/throughput": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders and commands of the last hours, hour by hour
         * @description Needs the scope `read`.
         */
        get: operations["getThroughput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search everything that has an id
         * @description Orders, customer orders, tracking numbers, SKUs, commands and events whose id begins with `q`, regardless of case, spaces and hyphens; equal ones first. Then orders and customer orders whose id ends with it, if it has at least four characters. Needs the scope `read`.
         */
        get: operations["getSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Changes in ascending order, without gaps
         * @description Continues after `after` (or `cursor`, the `nextCursor` of the previous answer). With `wait` an empty answer is delayed until something changes. With `Accept: text/event-stream` the same as server-sent events without a name; `Last-Event-ID` overrides `after`. With `Accept: application/cloudevents-batch+json` as CloudEvents, and the position in the header `link` (`rel="next"`); with `Accept: text/csv` all of them up to now. 410 when the next change has been removed (`RETAIN_CHANGES`), 400 `position-beyond-end` when the position is beyond the last change: none is skipped silently. Filters advance the position past changes that do not match. Needs the scope `read`.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Webhook endpoints
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook endpoint
         * @description Every matching change is posted to the URL as a CloudEvent, signed as Standard Webhooks. The answer contains the secret, once. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A webhook endpoint
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["readWebhook"];
        put?: never;
        post?: never;
        /**
         * Remove a webhook endpoint with its secrets and deliveries
         * @description Needs the scope `operate`, of a key that is not bound to sellers.
         */
        delete: operations["removeWebhook"];
        options?: never;
        head?: never;
        /**
         * Change, pause, resume or disable a webhook endpoint
         * @description `state: active` resumes it at its position and restarts the schedule of every waiting message, also if it was active. Another filter applies to future changes. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook endpoint
         * @description During the overlap, messages are signed with the old and the new secret. The answer contains the new one, once. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message now
         * @description Sent once, in any state of the endpoint, with the type `webhook.test`. The answer is its result. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send messages again, by id or by range of changes
         * @description With `after` and `before`: every change between the two numbers, both excluded, that matches the current filter, up to `position`. A message keeps its `webhook-id`. If the range is too long for one request, `nextAfter` is the `after` of the next one. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages of a webhook endpoint, newest first
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/syncs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of each sync
         * @description Needs the scope `read`.
         */
        get: operations["listSyncs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the syncs of each resource are
         * @description Over all sellers and streams; failing resources first, then by descending lag. `GET /v1/syncs` lists the streams. Needs the scope `read`.
         */
        get: operations["getLags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Resources that can be synced
         * @description Needs the scope `read`.
         */
        get: operations["getResources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/syncs/{resource}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs of a resource, newest first
         * @description Runs in a row that changed nothing are one entry (`runs`), for a day at most. Kept for `RETAIN_RUNS`. Needs the scope `read`.
         */
        get: operations["listSyncRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/syncs/{resource}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a sync now, or a backfill
         * @description With `from` (and `to`) the records of that time are read again, oldest first; not every resource supports it. Times that the marketplace no longer serves, and future times, are excluded: `range` is the time that is read. 422 if nothing remains. A sync that is running already goes on and is not run a second time. Needs the scope `operate`.
         */
        post: operations["runSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What remains of the rate limits
         * @description Each operation of the marketplace that any process used recently, those with the fewest remaining requests first. Figures of other processes are some seconds old. Needs the scope `read`.
         */
        get: operations["getBudget"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budget/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What remains of the rate limit of each operation
         * @description Over all sellers; the operation with the fewest remaining requests first. `GET /v1/budget` with `operation` lists its limits. Needs the scope `read`.
         */
        get: operations["getBudgetOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of each seller, its open work and how far behind it is
         * @description Needs the scope `read`.
         */
        get: operations["listSellers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the settings of the sellers again
         * @description In this process, then in every other process that shares the database, each from its own settings. If the settings of this process are invalid, no seller changes in any process, and the answer lists the errors. If they cannot be stored (503), no seller changes either. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["reloadSellers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a seller
         * @description Nothing of the seller runs until it is resumed, also after a restart. Events are accepted and wait. Work in progress is completed first. Needs the scope `operate`.
         */
        post: operations["pauseSeller"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a stopped or paused seller
         * @description Its credentials are tried immediately. If they are refused repeatedly, it is stopped again. Needs the scope `operate`.
         */
        post: operations["resumeSeller"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a seller that no process serves
         * @description A seller without records is deleted. A seller with orders, commands, events or other records is hidden: its records stay readable, and it is listed again when a process has it in its settings. Refused while a process serves it (`seller-served`) and while it has work that is not settled (`seller-unsettled`). Needs the scope `operate`, of a key that is not bound to sellers.
         */
        delete: operations["removeSeller"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shadow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders of sellers in shadow mode beside what was predicted
         * @description By seller and purchase order id: orders with a prediction, and orders that were processed since shadow mode began. Compared when they are read. With `verdict`, `kind` or `difference` a page may have fewer orders than `limit`, or none, although `nextCursor` leads to more: it compares at most 5,000 orders. Needs the scope `read`.
         */
        get: operations["listShadow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shadow/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Number of orders of sellers in shadow mode by verdict
         * @description Needs the scope `read`.
         */
        get: operations["getShadowCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/{id}/go-live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the shadow mode of a seller
         * @description From now on its commands are sent. Open predictions, and commands that were not predicted yet, end and are never sent: what the other system did is not repeated. The decision wins over the setting `MODE`. Refused with `shadow-differs` while orders differ from their predictions, while every prediction is pending, or while events wait, unless `force` is true. Needs the scope `operate`.
         */
        post: operations["goLiveSeller"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sellers/{id}/go-shadow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a seller in shadow mode
         * @description From now on nothing of it is written to the marketplace: everything is read, decided and reserved, and its commands are predicted. A request that is being sent is completed, and its outcome is read back. The decision wins over the setting `MODE`. Needs the scope `operate`.
         */
        post: operations["goShadowSeller"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * When commands are sent and backfills end, and which ship-by dates are at risk
         * @description Computed from open work, reported or learned rate limits, and positions in the queues. Nothing is written. Needs the scope `read`.
         */
        get: operations["getForecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quarantine": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Records that could not be parsed, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listQuarantine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quarantine/{id}/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show a record as it was received
         * @description For sessions, which get records without the buyer's data. The request is audited. Needs the scope `read`.
         */
        post: operations["revealQuarantine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quarantine/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Parse a record again
         * @description Needs the scope `operate`.
         */
        post: operations["replayQuarantine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quarantine/{id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle a record that cannot be obtained or is not needed; the same text stays settled when it is received again
         * @description Needs the scope `operate`.
         */
        post: operations["dismissQuarantine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase the buyer of a customer order; units and money are kept; it cannot be undone
         * @description Needs the scope `operate`.
         */
        post: operations["createErasure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Campaigns, by seller and campaign id
         * @description Needs the scope `read`.
         */
        get: operations["listCampaigns"];
        put?: never;
        /**
         * Watch campaigns
         * @description The marketplace has no operation that lists campaigns, so the ids to read are added here. New ones are read immediately. Needs the scope `operate`.
         */
        post: operations["createCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/campaigns/{campaignId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A campaign with every change of its status
         * @description Needs the scope `read`.
         */
        get: operations["getCampaign"];
        put?: never;
        post?: never;
        /**
         * Stop watching a campaign; stored data is kept
         * @description Needs the scope `operate`.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/discrepancies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Differences between inventory report, previous month and inventory log, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listDiscrepancies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Possible claims of each seller for a month: lost, damaged and unexplained units, and their value
         * @description Needs the scope `read`.
         */
        get: operations["listClaims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reconciliation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The stored monthly reports, one row for each SKU and month, by seller, month and SKU
         * @description Needs the scope `read`.
         */
        get: operations["listReconciliation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reconciliation/{gtin}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The report of one GTIN for the current month, requested now and compared with the log
         * @description Stores nothing. It counts as one of the hourly requests that the marketplace allows for the month: 503 with `Retry-After` if they are used up. Needs the scope `operate`.
         */
        get: operations["getReconciliation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Claims with their state: one for each SKU, month and kind, or inbound shipment, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listClaimsItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rows of settlement reports that reimburse units, with the claim that each pays, by seller and newest report first
         * @description Needs the scope `read`.
         */
        get: operations["listClaimsPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The evidence of all claims of a month
         * @description At most 500 claims; 422 if there are more. Needs the scope `read`.
         */
        get: operations["getClaimsEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One claim
         * @description Needs the scope `read`.
         */
        get: operations["getClaim"];
        put?: never;
        /**
         * Set the state of a claim: filed, paid in part, paid, refused, or open again
         * @description 409 if the claim is withdrawn; if it would be filed before the whole log of its SKU has been read once, since a late entry may still settle it; if an answer of the marketplace is recorded before the claim was filed; or if the amount paid is missing, above the value, or has more digits than the currency has. `force` files it all the same, and accepts a higher amount. Opening or filing a claim again removes its amount. Needs the scope `operate`.
         */
        post: operations["createClaim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/claims/{id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The evidence of a claim: rows of the reports as they came, log entries, and the arithmetic in words
         * @description Needs the scope `read`.
         */
        get: operations["getClaimEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/late-returns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns to refund, the earliest deadline first
         * @description Returns with units that have arrived and are not refunded, if their refund is late, or due within 12 hours. Only of sellers whose marketplace sets a deadline (profile `walmart-us`: 48 hours after the arrival); not of goods that the marketplace fulfils. A return that is late for more than 30 days is no longer listed. Needs the scope `read`.
         */
        get: operations["listLateReturns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The stock on hand at the fulfillment service, by seller and SKU
         * @description Needs the scope `read`.
         */
        get: operations["listStock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stock-differences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Differences between the stock on hand and the balance of the inventory log, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listStockDifferences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbound-shipments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Units sent to fulfillment centers beside their receipts in the inventory log, by seller, shipment and SKU
         * @description Needs the scope `read`.
         */
        get: operations["listInboundShipments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlement-differences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Differences between what settlement reports have paid and what orders are due, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listSettlementDifferences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/demonstration/trouble": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make trouble to look at, in a demonstration
         * @description Places an order whose shipment is held, and a late order with a rejected event, and has the sandbox list a return that cannot be read. Only a demonstration has this; any other daemon answers 404. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["troubleDemonstration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Differences between the marketplace's answers and what is published, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listDrift"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/trends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Figures of the last days, and of the days before
         * @description Computed within minutes; within an hour where there are many orders. Days are those of BI_TIME_ZONE, the last one is today. Needs the scope `read`.
         */
        get: operations["getTrends"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Contextual targets and behavioral audiences, by seller, tactic and id
         * @description Needs the scope `read`.
         */
        get: operations["listTargets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alarms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Alarms, newest first
         * @description Needs the scope `read`.
         */
        get: operations["listAlarms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alarms/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an alarm about a past event, such as a rejected command; all other alarms close automatically with their cause
         * @description Needs the scope `operate`.
         */
        post: operations["resolveAlarm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alarms/{id}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Silence an open alarm until a given time
         * @description It stays open and is counted separately (`tallyman_alarms_silenced`), like any alarm of the same kind and subject that opens before that time. A past time ends the silence. Needs the scope `operate`.
         */
        post: operations["silenceAlarm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alarm-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Channels to which alarms are sent
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["listAlarmChannels"];
        put?: never;
        /**
         * Add a channel for alarms: Slack, Teams or e-mail
         * @description It gets the open alarms that match its rules in one message, and from then on each alarm once: when it opens, and when it is over. `url` for Slack and Teams, `recipients` for e-mail. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["createAlarmChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alarm-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A channel to which alarms are sent
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["getAlarmChannel"];
        put?: never;
        post?: never;
        /**
         * Remove a channel for alarms
         * @description Needs the scope `operate`, of a key that is not bound to sellers.
         */
        delete: operations["deleteAlarmChannel"];
        options?: never;
        head?: never;
        /**
         * Change, pause or resume a channel for alarms
         * @description Waiting messages are sent at once, also to a channel that has failed. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        patch: operations["updateAlarmChannel"];
        trace?: never;
    };
    "/v1/alarm-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message now
         * @description Sent once, in any state of the channel and at any hour. The answer is its result. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["testAlarmChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completeness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders that returns, the inventory log, settlement reports, events and notifications have named, by day and source, and what has become of them
         * @description Needs the scope `read`.
         */
        get: operations["getCompleteness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How long data is kept, and what is due for removal
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["getRetention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove old data now
         * @description Runs in the background, in small steps; `running`, `dueAt` and `lastRemoved` of `GET /v1/retention` show the progress. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["runRetention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Keys, without their secrets
         * @description Needs the scope `operate`, of a key that is not bound to sellers.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Add a key
         * @description The answer contains the key, once. The key cannot have scopes that the caller does not have. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a key
         * @description The previous secret is accepted for `overlapSeconds` more. A secret that is still accepted from an earlier rotation ends immediately. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Takes effect immediately in this process, within two seconds in others. The row is kept for the audit. Needs the scope `operate`, of a key that is not bound to sellers.
         */
        delete: operations["deleteKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Actions of people, newest first
         * @description Needs the scope `operate`.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Work is being consumed
         * @description Work is being consumed.
         */
        get: operations["getLivez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Work is being consumed
         * @description Work is being consumed.
         */
        get: operations["getHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Migrated, connected, started, and not draining
         * @description Migrated, connected, started, and not draining.
         */
        get: operations["getReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who is signed in
         * @description Who is signed in.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in
         * @description Takes a key and sets a cookie that is accepted wherever the key is, for 12 hours or until the key is revoked. Scripts cannot read it, and other sites cannot make a browser send it.
         */
        post: operations["createSession"];
        /**
         * Sign out
         * @description Sign out.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The effective settings and their sources
         * @description Settings of the answering process, as of its start. Secrets are listed without their values. Needs the scope `read`, of a key that is not bound to sellers.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notifications/{sellerId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a notification of the marketplace
         * @description A webhook of the marketplace about the seller. It is a hint: the named order or return is read from the marketplace by its id. Proven with `NOTIFICATIONS_SECRET` by HTTP Basic, by an HMAC-SHA256 of the body, by the signature with a time, or by a token of `POST /v1/notifications/{sellerId}/token`. A repeated `source.eventId` changes nothing. Needs the scope `events:write`.
         */
        post: operations["createNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notifications/{sellerId}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a token for notifications
         * @description OAuth 2.0 client credentials, in a Basic header or in a form: the user and the password of `NOTIFICATIONS_SECRET`. The token proves notifications about this seller as `Authorization: Bearer`; nothing of it is stored. Needs the scope `events:write`.
         */
        post: operations["tokenNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    change: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A change, posted to an endpoint
         * @description At least once, and in order for each purchase order. Every attempt and every redelivery of a message has the same `webhook-id`; verify the signature over the body as received.
         */
        post: operations["receiveChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        ChannelHoursInput: {
            /** @description Local time at which the hours begin. */
            from: string;
            /** @description Local time at which they end; not later than `from`: on the next day. */
            to: string;
            /** @description IANA name of the time zone. */
            timeZone: string;
            /**
             * @description Days on which the hours begin; 1: Monday, 7: Sunday. Default: every day.
             * @default [
             *       1,
             *       2,
             *       3,
             *       4,
             *       5,
             *       6,
             *       7
             *     ]
             */
            weekdays: number[];
        };
        /** @description Acknowledges the order. */
        OrderAcceptedInput: {
            sellerId?: string | null;
            purchaseOrderId: string | number;
        };
        /** @description Ships the units of each parcel. A line is named by lineNumber or by sku. */
        ShipmentDispatchedInput: {
            sellerId?: string | null;
            purchaseOrderId: string | number;
            parcels: {
                carrier: string;
                trackingNumber: string;
                trackingUrl?: string | null;
                method?: string | null;
                /** Format: date-time */
                shippedAt: string;
                lines: {
                    lineNumber?: (string | number) | null;
                    sku?: string | null;
                    quantity: number;
                    intentToCancelOverride?: boolean | null;
                }[];
            }[];
        };
        /** @description Cancels units. */
        LinesUnfulfillableInput: {
            sellerId?: string | null;
            purchaseOrderId: string | number;
            lines: {
                lineNumber?: (string | number) | null;
                sku?: string | null;
                quantity: number;
                reason: string;
            }[];
        };
        /** @description Refunds units; without `amount`, the charges of the units. */
        CreditIssuedInput: {
            sellerId?: string | null;
            purchaseOrderId: string | number;
            lines: {
                lineNumber?: (string | number) | null;
                sku?: string | null;
                quantity: number;
                reason: string;
                amount?: (string | number) | null;
                currency?: string | null;
            }[];
        };
        /** @description Replaces the tracking number of shipped units. No unit moves. */
        ShipmentCorrectedInput: {
            sellerId?: string | null;
            purchaseOrderId: string | number;
            trackingNumber: string;
            replacement: {
                carrier: string;
                trackingNumber: string;
                trackingUrl?: string | null;
            };
        };
        /** @description Refunds units through their return. A line is named by returnLineNumber or by sku; `amount`, if named, must be the product charge of the units. */
        ReturnRefundedInput: {
            sellerId?: string | null;
            returnOrderId: string | number;
            lines: {
                returnLineNumber?: (number | string) | null;
                sku?: string | null;
                quantity: number;
                reason?: string | null;
                amount?: (string | number) | null;
                currency?: string | null;
            }[];
        };
        /** @description Creates the seller's account-level shipping settings. */
        ShippingSettingsDefinedInput: {
            sellerId?: string | null;
            simplifiedShippingSettings: {
                accountConfigs: {
                    shippingPriority?: string | null;
                    migrateFreeShippingOffers?: boolean;
                    carrierConfigs: ({
                        shippingMethod?: string | null;
                        carriers: ({
                            carrierName: string;
                            carrierService: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        configurations: ({
                            regions: ({
                                regionCode: string;
                                regionName: string;
                                states?: ({
                                    stateCode: string;
                                } & {
                                    [key: string]: unknown;
                                })[];
                                subRegions?: ({
                                    states?: ({
                                        stateCode: string;
                                    } & {
                                        [key: string]: unknown;
                                    })[];
                                } & {
                                    [key: string]: unknown;
                                })[];
                            } & {
                                [key: string]: unknown;
                            })[];
                            addressTypes: string[];
                            shippingCharge: {
                                rateModelType: string;
                                perShippingCharge: {
                                    unitOfMeasure: string;
                                    shippingAndHandling: {
                                        amount: string | number;
                                        currency: string;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                    chargePerItem?: ({
                                        amount: string | number;
                                        currency: string;
                                    } & {
                                        [key: string]: unknown;
                                    }) | null;
                                    chargePerWeight?: ({
                                        amount: string | number;
                                        currency: string;
                                    } & {
                                        [key: string]: unknown;
                                    }) | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        })[];
                    } & {
                        [key: string]: unknown;
                    })[];
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            };
        };
        /** @description States what was sent to a fulfillment center, to be compared with the inventory log. It becomes no command. */
        InboundShippedInput: {
            sellerId?: string | null;
            shipmentId: string | number;
            /** Format: date-time */
            shippedAt: string;
            expectedBy?: string | null;
            deliveredAt?: string | null;
            lines: {
                sku: string;
                quantity: number;
            }[];
        };
        /** @description CloudEvents 1.0. Unknown members of `data` are refused; extension attributes are allowed. */
        CloudEventInput: ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.order.accepted";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["OrderAcceptedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.shipment.dispatched";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["ShipmentDispatchedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.lines.unfulfillable";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["LinesUnfulfillableInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.credit.issued";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["CreditIssuedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.shipment.corrected";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["ShipmentCorrectedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.return.refunded";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["ReturnRefundedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.shipping-settings.defined";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["ShippingSettingsDefinedInput"];
        } & {
            [key: string]: unknown;
        }) | ({
            /** @constant */
            specversion: "1.0";
            /** @description Unique within the source, for ever. */
            id: string;
            /** @description A URI reference that names the sender. */
            source: string;
            /** @constant */
            type: "erp.inbound.shipped";
            time?: string;
            datacontenttype?: string;
            data: components["schemas"]["InboundShippedInput"];
        } & {
            [key: string]: unknown;
        });
        /** @description Problem details (RFC 9457). */
        Problem: {
            /** @description Kind of problem: urn:tallyman:problem:<code>. */
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description Path of the request. */
            instance: string;
            /** @description Stable name of the kind of problem, for programs. */
            code: string;
            /** @description Included in the log lines of this request. */
            correlationId: string;
            /** @description All errors, each with its path. */
            errors?: {
                path: string;
                message: string;
            }[];
        };
        AuditEntry: {
            id: string;
            /** Format: date-time */
            at: string;
            /** @description Name of the key; with API_KEY or without a key: the actor that the request names. */
            actor: string;
            /** @description With a named key: the actor that the request names. */
            onBehalfOf: string | null;
            /** @description Id of the key, or `API_KEY`; null: no key was needed. */
            keyId: string | null;
            /** @description One of alarm.closed, alarm.silenced, alarm_channel.added, alarm_channel.changed, alarm_channel.removed, alarm_channel.test_requested, buyer.erased, buyer.shown, campaigns.watched, campaign.unwatched, claim.decided, command.decided, event.rejected, key.added, key.revoked, key.rotated, log_reasons.changed, proposal.added, proposal.approval_requested, proposal.rejected, queues.change_requested, record.dismissed, record.replay_requested, record.shown, retention.run_requested, seller.paused, seller.removed, seller.went_live, seller.went_shadow, seller.resumed, sellers.reload_requested, session.closed, session.opened, sync.run_requested, webhook.added, webhook.changed, webhook.redelivered, webhook.removed, webhook.rotated, webhook.test_requested. */
            action: string;
            /** @description null: no seller, or all of them. */
            sellerId: string | null;
            /** @description Id of the subject of the action. */
            subject: string;
            reason: string | null;
            details: unknown;
        };
        OrderPayout: {
            currency: string | null;
            /**
             * @description pending: `openAmount` is positive; paid: reports have paid all shipped units; nothing-due: no unit is due, and no report names the order.
             * @enum {string}
             */
            state: "pending" | "paid" | "nothing-due";
            /** @description Prices and other charges that reports have paid. */
            paid: string;
            /** @description Taxes of sales, less what the marketplace withheld. */
            netTax: string;
            /** @description Commissions, less those given back; negative: to the marketplace. */
            commission: string;
            /** @description Fees and adjustments; negative: to the marketplace. */
            fees: string;
            /** @description Refunds, without the commission given back; negative: to the buyer. */
            refunds: string;
            /** @description Discounts, reserves and other money. */
            other: string;
            /** @description All of these together: what the order earned so far. */
            payout: string;
            /** @description Charges of shipped units that no report has paid, before commission. */
            openAmount: string;
            /** @description `YYYY-MM-DD`: the newest row. Null: no report names the order. */
            lastPostedOn: string | null;
        };
        SettlementDifference: {
            id: string;
            sellerId: string;
            /** @enum {string} */
            kind: "paid-less" | "paid-more" | "paid-twice" | "never-paid" | "refund-without-return" | "commission-off-rate" | "unknown-fee";
            /** @description Null: the row of the report names no order. */
            purchaseOrderId: string | null;
            lineNumber: string | null;
            sku: string | null;
            /** @description `YYYY-MM-DD`: the newest report of its rows. Null: no report has paid. */
            reportDate: string | null;
            /** @description What reports should have paid; negative: to the marketplace. */
            expectedAmount: string;
            /** @description What the rows of reports have paid. */
            paidAmount: string;
            /** @description paidAmount minus expectedAmount; negative: the seller has received too little. */
            difference: string;
            currency: string | null;
            /** @description The rows of reports that it comes from. */
            readonly rows: {
                /** @description Report and position of the row. */
                lineKey: string;
                transactionType: string;
                amountType: string | null;
                description: string | null;
                /** @description `YYYY-MM-DD`. */
                postedOn: string | null;
                amount: string | null;
            }[];
            /** @enum {string} */
            state: "open" | "resolved";
            /** @description settled: later reports or records explain it; withdrawn: its order is no longer stored. */
            resolution: ("settled" | "withdrawn") | null;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
            resolvedAt: string | null;
        };
        EventReceipt: {
            id: string;
            source: string;
            /**
             * @description duplicate: this source and id were posted before, with the same body.
             * @enum {string}
             */
            status: "accepted" | "duplicate";
            /**
             * @description received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`.
             * @enum {string}
             */
            state: "received" | "accepted" | "rejected";
            /** @description Ids of its commands, in order. */
            readonly commands: string[];
            problem: {
                type: string;
                title: string;
                status: number;
                detail: string;
                code: string;
                readonly errors: {
                    path: string;
                    message: string;
                }[];
            } | null;
        };
        EventForecast: {
            id: string;
            source: string;
            /** @enum {string} */
            would: "accepted" | "duplicate" | "rejected";
            /** @description In their order; empty for a duplicate. */
            readonly commands: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Refunded amount with tax and fees; null: no refund, or several currencies. */
                money: {
                    amount: string;
                    currency: string;
                } | null;
                /** @description The request that would be sent: operation, path and body, as in `attempts` of a command; null: none, because the order is acknowledged, or an earlier command will acknowledge it. */
                request: unknown;
            }[];
            /** @description Why it would be rejected. For an event that would be accepted: why it cannot be decided now (`order-not-stored`, `event-waits` or `batch-refused`). */
            problem: {
                type: string;
                title: string;
                status: number;
                detail: string;
                code: string;
                readonly errors: {
                    path: string;
                    message: string;
                }[];
            } | null;
        };
        Command: {
            id: string;
            /** @description Commands of one order, or on the shipping settings of one seller, run in this order. */
            sequence: string;
            sellerId: string;
            /** @description null: the command concerns the seller's shipping settings. */
            purchaseOrderId: string | null;
            kind: string;
            /** @enum {string} */
            state: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
            event: {
                source: string;
                id: string;
            } | null;
            /** @description Any JSON, as stored. */
            payload: unknown;
            readonly lines: {
                lineNumber: string;
                quantity: number;
            }[];
            /** @description Decision of an operator line by line: the units that were applied, and those that are still to be sent. null: none. */
            parts: {
                readonly applied: {
                    lineNumber: string;
                    quantity: number;
                }[];
                readonly open: {
                    lineNumber: string;
                    quantity: number;
                }[];
            } | null;
            reason: string | null;
            /** @description Any JSON, as stored. */
            evidence: unknown;
            readonly correlationIds: string[];
            readonly attempts: {
                attempt: number;
                correlationId: string;
                /** @description Any JSON, as stored. */
                request: unknown;
                /** @description Any JSON, as stored. */
                baseline: unknown;
                /** Format: date-time */
                startedAt: string;
                finishedAt: string | null;
                outcome: string | null;
                httpStatus: number | null;
                /** @description Any JSON, as stored. */
                failure: unknown;
                /** @description Any JSON, as stored. */
                readBacks: unknown;
            }[];
            readonly decisions: {
                decision: string;
                actor: string;
                reason: string;
                /** @description Any JSON, as stored. */
                evidence: unknown;
                /** Format: date-time */
                decidedAt: string;
            }[];
            /**
             * Format: date-time
             * @description When it is checked next. Whether it continues then depends on the rate limit: see `GET /v1/forecast`.
             */
            nextActionAt: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            settledAt: string | null;
        };
        ListedEvent: {
            /** @description Events of one order are decided in this order. */
            sequence: string;
            source: string;
            id: string;
            type: string;
            sellerId: string | null;
            purchaseOrderId: string | null;
            /**
             * @description received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`.
             * @enum {string}
             */
            state: "received" | "accepted" | "rejected";
            problem: {
                type: string;
                title: string;
                status: number;
                detail: string;
                code: string;
                readonly errors: {
                    path: string;
                    message: string;
                }[];
            } | null;
            /** @description Why it still waits, as of the last attempt to decide it. */
            waitsFor: string | null;
            /** Format: date-time */
            receivedAt: string;
            processedAt: string | null;
            /** @description Ids of its commands, in order. */
            readonly commands: string[];
        };
        Event: {
            sequence: string;
            source: string;
            id: string;
            type: string;
            /** @description Any JSON, as stored. */
            data: unknown;
            /** @description Why `data` is not shown; null: it is. */
            unreadable: string | null;
            /** @description When `data` was removed, except the ids of order and seller (`RETAIN_EVENTS`); null: it is complete. */
            dataRemovedAt: string | null;
            sellerId: string | null;
            purchaseOrderId: string | null;
            /**
             * @description received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`.
             * @enum {string}
             */
            state: "received" | "accepted" | "rejected";
            problem: {
                type: string;
                title: string;
                status: number;
                detail: string;
                code: string;
                readonly errors: {
                    path: string;
                    message: string;
                }[];
            } | null;
            /** @description Why it still waits, as of the last attempt to decide it. */
            waitsFor: string | null;
            /** Format: date-time */
            receivedAt: string;
            processedAt: string | null;
            readonly commands: components["schemas"]["Command"][];
        };
        OrderSummary: {
            sellerId: string;
            purchaseOrderId: string;
            customerOrderId: string | null;
            orderDate: string | null;
            shipNodeType: string | null;
            estimatedShipDate: string | null;
            totalAmount: string | null;
            currency: string | null;
            /** @description Some units are neither shipped nor cancelled. */
            open: boolean;
            /** @description false: the marketplace ships it. */
            fulfilledBySeller: boolean;
            /** @description By when its units must be acknowledged; null: nothing is left to acknowledge. */
            acknowledgeBy: string | null;
            /** @description When the marketplace cancels units that are not shipped; null: the order is not open, or has no ship date. */
            autoCancelAt: string | null;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
            readonly lines: {
                lineNumber: string;
                sku: string | null;
                ordered: number;
                acknowledged: number;
                shipped: number;
                cancelled: number;
                refunded: number;
            }[];
        };
        /** @description All units of the line by state. */
        UnitLedger: {
            /** @description What the marketplace last reported. */
            reported: {
                acknowledged: number;
                shipped: number;
                cancelled: number;
                refunded: number;
            };
            /** @description Units of confirmed commands. */
            confirmed: {
                shipped: number;
                cancelled: number;
                refunded: number;
            };
            /** @description Reserved by commands whose request has not been sent. */
            reserved: {
                ship: number;
                cancel: number;
                refund: number;
            };
            /** @description Units of a command whose request may have taken effect; counted from the baseline. */
            inFlight: {
                /** @enum {string} */
                kind: "ship" | "cancel" | "refund";
                quantity: number;
                baseline: {
                    acknowledged: number;
                    shipped: number;
                    cancelled: number;
                    refunded: number;
                };
            } | null;
            /** @description What can still be reserved. */
            available: {
                ship: number;
                cancel: number;
                refund: number;
            };
        };
        /** @description One change, by its type. */
        Change: components["schemas"]["ChangeOrderSeen"] | components["schemas"]["ChangeOrderChanged"] | components["schemas"]["ChangeOrderLineChanged"] | components["schemas"]["ChangeOrderMissing"] | components["schemas"]["ChangeOrderErased"] | components["schemas"]["ChangeReturnSeen"] | components["schemas"]["ChangeReturnLineChanged"] | components["schemas"]["ChangeReturnErased"] | components["schemas"]["ChangeCommandPending"] | components["schemas"]["ChangeCommandSending"] | components["schemas"]["ChangeCommandVerifying"] | components["schemas"]["ChangeCommandHeld"] | components["schemas"]["ChangeCommandConfirmed"] | components["schemas"]["ChangeCommandRejected"] | components["schemas"]["ChangeCommandPredicted"] | components["schemas"]["ChangeCommandWithdrawn"] | components["schemas"]["ChangeEventRejected"] | components["schemas"]["ChangeAlarmRaised"] | components["schemas"]["ChangeAlarmSilenced"] | components["schemas"]["ChangeAlarmResolved"] | components["schemas"]["ChangeSellerStopped"] | components["schemas"]["ChangeSellerPaused"] | components["schemas"]["ChangeSellerResumed"] | components["schemas"]["ChangeSellerModeChanged"] | components["schemas"]["ChangeSellerRemoved"] | components["schemas"]["ChangeSellerReturned"] | components["schemas"]["ChangeSellerEnrolmentChanged"] | components["schemas"]["ChangeShippingSettingsCreated"] | components["schemas"]["ChangeShippingSettingsChanged"] | components["schemas"]["ChangeShippingSettingsMissing"] | components["schemas"]["ChangeCampaignAdded"] | components["schemas"]["ChangeCampaignChanged"] | components["schemas"]["ChangeCampaignStatusChanged"] | components["schemas"]["ChangeCampaignMissing"] | components["schemas"]["ChangeCampaignFound"] | components["schemas"]["ChangeTaxonomyLoaded"] | components["schemas"]["ChangeTaxonomyNodeAdded"] | components["schemas"]["ChangeTaxonomyNodeChanged"] | components["schemas"]["ChangeTaxonomyNodeRemoved"] | components["schemas"]["ChangeTargetLoaded"] | components["schemas"]["ChangeTargetAdded"] | components["schemas"]["ChangeTargetChanged"] | components["schemas"]["ChangeTargetRemoved"] | components["schemas"]["ChangeSalesChannelLoaded"] | components["schemas"]["ChangeSalesChannelAdded"] | components["schemas"]["ChangeSalesChannelChanged"] | components["schemas"]["ChangeSalesChannelRemoved"] | components["schemas"]["ChangeSettlementLineAdded"] | components["schemas"]["ChangeSettlementLineChanged"] | components["schemas"]["ChangeSettlementLineRemoved"] | components["schemas"]["ChangeSettlementDifferenceFound"] | components["schemas"]["ChangeSettlementDifferenceChanged"] | components["schemas"]["ChangeSettlementDifferenceResolved"] | components["schemas"]["ChangeStockLoaded"] | components["schemas"]["ChangeStockAdded"] | components["schemas"]["ChangeStockChanged"] | components["schemas"]["ChangeStockRemoved"] | components["schemas"]["ChangeStockDifferenceFound"] | components["schemas"]["ChangeStockDifferenceChanged"] | components["schemas"]["ChangeStockDifferenceResolved"] | components["schemas"]["ChangeReplenishmentChanged"] | components["schemas"]["ChangeInventoryLogEntriesAdded"] | components["schemas"]["ChangeInventoryLogEntryChanged"] | components["schemas"]["ChangeInventoryLogEntryGone"] | components["schemas"]["ChangeInventoryLogUnknownReason"] | components["schemas"]["ChangeReconciliationReportImported"] | components["schemas"]["ChangeReconciliationRowChanged"] | components["schemas"]["ChangeReconciliationRowGone"] | components["schemas"]["ChangeInventoryDiscrepancyFound"] | components["schemas"]["ChangeInventoryDiscrepancyChanged"] | components["schemas"]["ChangeInventoryDiscrepancyResolved"];
        /** @description A change as a CloudEvent 1.0. */
        ChangeEvent: {
            /** @constant */
            specversion: "1.0";
            /** @description Sequence number of the change. */
            id: string;
            /** @description `/tallyman/` and the seller. */
            source: string;
            type: string;
            /** @description The purchase order, else the return, else the command. */
            subject?: string;
            /** Format: date-time */
            time: string;
            /** @constant */
            datacontenttype: "application/json";
            /** @description The same as `id`: its position in the feed. */
            sequence: string;
            sellerid?: string;
            purchaseorderid?: string;
            linenumber?: string;
            returnorderid?: string;
            commandid?: string;
            /** @description Any JSON, as stored. */
            data: unknown;
        };
        Buyer: {
            customerName: string | null;
            customerEmail: string | null;
            customerPhone: string | null;
            shippingAddress: {
                [key: string]: unknown;
            } | null;
        };
        Order: {
            sellerId: string;
            purchaseOrderId: string;
            customerOrderId: string | null;
            orderDate: string | null;
            shipNodeType: string | null;
            estimatedShipDate: string | null;
            totalAmount: string | null;
            currency: string | null;
            /** @description Some units are neither shipped nor cancelled. */
            open: boolean;
            /** @description false: the marketplace ships it. */
            fulfilledBySeller: boolean;
            /** @description By when its units must be acknowledged; null: nothing is left to acknowledge. */
            acknowledgeBy: string | null;
            /** @description When the marketplace cancels units that are not shipped; null: the order is not open, or has no ship date. */
            autoCancelAt: string | null;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
            orderType: string | null;
            methodCode: string | null;
            estimatedDeliveryDate: string | null;
            customerName: string | null;
            customerEmail: string | null;
            customerPhone: string | null;
            shippingAddress: {
                [key: string]: unknown;
            } | null;
            lines: {
                lineNumber: string;
                sku: string | null;
                ordered: number;
                acknowledged: number;
                shipped: number;
                cancelled: number;
                refunded: number;
                productName: string | null;
                unitOfMeasure: string | null;
                refundedAmount: string;
                intentToCancel: boolean;
                statuses: {
                    status: string;
                    quantity: number;
                    cancellationReason: string | null;
                    carrier: string | null;
                    methodCode: string | null;
                    trackingNumber: string | null;
                    trackingUrl: string | null;
                    shippedAt: string | null;
                }[];
                /** @description Every parcel of the line, also one that the marketplace no longer shows, as after a refund. */
                shipments: {
                    carrier: string | null;
                    methodCode: string | null;
                    trackingNumber: string | null;
                    trackingUrl: string | null;
                    shippedAt: string | null;
                    /** @description The maximum of units of the line that were seen in it. */
                    quantity: number;
                    /** @description Units that the marketplace shows in it now. It shows refunded units without their parcel. */
                    shownQuantity: number;
                }[];
                charges: {
                    chargeType: string;
                    chargeName: string;
                    amount: string;
                    currency: string;
                    tax: {
                        taxName: string;
                        amount: string;
                        currency: string;
                    } | null;
                    taxAndOtherFees: {
                        taxName: string;
                        amount: string;
                        currency: string;
                    } | null;
                }[];
                ledger: components["schemas"]["UnitLedger"] | null;
            }[];
            readonly commands: components["schemas"]["Command"][];
            history: {
                /** @description Raw records of the marketplace, the newest 50, oldest first; the current one is the last. */
                readonly versions: {
                    /** Format: date-time */
                    firstSeenAt: string;
                    lastSeenAt: string | null;
                    /** @description Any JSON, as stored. */
                    raw: unknown;
                }[];
                /** @description The newest 1,000, oldest first. */
                readonly changes: components["schemas"]["Change"][];
            };
            /** @description What settlement reports have paid so far, by currency. Not with `at`. */
            readonly payouts?: components["schemas"]["OrderPayout"][];
            /**
             * Format: date-time
             * @description The requested time. Only with `at`, like `version`, `validFrom` and `validTo`.
             */
            at?: string;
            /** @description The number of the version among the kept ones; 1: the oldest. */
            version?: number;
            /**
             * Format: date-time
             * @description When the version was stored.
             */
            validFrom?: string;
            /** @description When the next version replaced it; null: it is the current one. */
            validTo?: string | null;
        };
        Sync: {
            sellerId: string;
            resource: string;
            stream: string;
            /** @description Everything up to here, by the marketplace's clock, has been read. */
            watermark: string | null;
            windowFrom: string | null;
            windowTo: string | null;
            windowsPending: number;
            cursor: string | null;
            pages: number;
            totals: {
                windowsTotal: number;
                windowsDone: number;
                seen: number;
                changed: number;
                quarantined: number;
                windowSeen: number;
                windowTotal: number | null;
                /** @description Parts that could not be read and were skipped. */
                skipped: number;
                /** @description The requested time before this is older than what the marketplace serves. */
                outOfReachBefore: string | null;
            };
            running: boolean;
            /** @description Time since the last run that read everything, in milliseconds. */
            lagMs: number | null;
            /** @description Its last success is more than five of its intervals and half an hour ago. */
            behind: boolean;
            lastStartedAt: string | null;
            lastSuccessAt: string | null;
            lastError: string | null;
            /** @description Since the last success. */
            failures: number;
            /** @description Why this seller counts as not enrolled; checked again weekly, or when the sync is started manually. */
            notEnrolled: string | null;
        };
        ResourceLag: {
            resource: string;
            streams: number;
            /** @description Streams whose last run failed. */
            failing: number;
            /** @description Streams whose last success is more than five of their intervals and half an hour ago. */
            behind: number;
            /** @description Streams that have never read everything; backfills do not count. */
            unread: number;
            /** @description The longest time since a stream read everything, of the streams that run most often, in milliseconds. Slower ones, such as a daily reread, do not count. Null: none has read everything. */
            lagMs: number | null;
            /** @description The stream with that lag. */
            furthest: {
                sellerId: string;
                stream: string;
            } | null;
        };
        SyncRun: {
            id: string;
            sellerId: string;
            resource: string;
            stream: string;
            /** @description Beginning of the time that was read. */
            windowFrom: string | null;
            windowTo: string | null;
            pages: number;
            /** @description Records that were received. */
            seen: number;
            /** @description Records that were written. */
            changed: number;
            quarantined: number;
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            finishedAt: string;
            error: string | null;
            /** @description Number of runs in this entry: consecutive runs that changed nothing are one entry. */
            runs: number;
        };
        Campaign: {
            sellerId: string;
            campaignId: string;
            name: string | null;
            /** @description Null until the campaign has been read. Unknown values are stored too. */
            status: string | null;
            /** @description Transitions that the specification lists. */
            readonly nextStatuses: string[];
            /**
             * @description How often it is polled: near, running, waiting, ended.
             * @enum {string}
             */
            urgency: "near" | "running" | "waiting" | "ended";
            startDate: string | null;
            /** @description Null: open end. */
            endDate: string | null;
            dailyBudget: string | null;
            totalBudget: string | null;
            targetRoas: string | null;
            createdDate: string | null;
            watched: boolean;
            /** @description Where it was added: settings, operator, sql. */
            source: string | null;
            /** @description Since when the marketplace does not have this campaign. */
            missingSince: string | null;
            /** @description Why the last read failed. */
            problem: string | null;
            /** @description When this version was read, by the marketplace's clock. */
            observedAt: string | null;
            firstSeenAt: string | null;
            changedAt: string | null;
        };
        CampaignDetail: {
            sellerId: string;
            campaignId: string;
            name: string | null;
            /** @description Null until the campaign has been read. Unknown values are stored too. */
            status: string | null;
            /** @description Transitions that the specification lists. */
            readonly nextStatuses: string[];
            /**
             * @description How often it is polled: near, running, waiting, ended.
             * @enum {string}
             */
            urgency: "near" | "running" | "waiting" | "ended";
            startDate: string | null;
            /** @description Null: open end. */
            endDate: string | null;
            dailyBudget: string | null;
            totalBudget: string | null;
            targetRoas: string | null;
            createdDate: string | null;
            watched: boolean;
            /** @description Where it was added: settings, operator, sql. */
            source: string | null;
            /** @description Since when the marketplace does not have this campaign. */
            missingSince: string | null;
            /** @description Why the last read failed. */
            problem: string | null;
            /** @description When this version was read, by the marketplace's clock. */
            observedAt: string | null;
            firstSeenAt: string | null;
            changedAt: string | null;
            /** @description The newest 1,000, oldest first. */
            readonly statusChanges: {
                /** @description Null for the first status that was read. */
                fromStatus: string | null;
                toStatus: string;
                /**
                 * Format: date-time
                 * @description When it was read, by the marketplace's clock.
                 */
                seenAt: string;
                /** @description Whether the specification lists the transition; null for the first status that was read. */
                legal: boolean | null;
                /** @description Intermediate states that were missed, if listed transitions explain it; otherwise null. */
                missed: string[] | null;
            }[];
        };
        QuarantinedRecord: {
            id: string;
            sellerId: string;
            resource: string;
            recordKey: string | null;
            fault: string;
            /** @enum {string} */
            state: "open" | "replayed" | "superseded" | "dismissed";
            seenCount: number;
            /** @description As received; for sessions without the buyer's data. */
            rawText: string;
            /** @description Texts of `rawText` are hidden: `POST /v1/quarantine/{id}/reveal` shows them. */
            masked: boolean;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            lastSeenAt: string;
            replayedAt: string | null;
            /** @description Not a record but a part of a list, or an order, that was skipped because it cannot be read; `rawText` identifies it. */
            skipped: boolean;
            /** @description When the skipped part is requested again. */
            retryAt: string | null;
            dismissedBy: string | null;
            dismissedReason: string | null;
        };
        Alarm: {
            id: string;
            sellerId: string;
            kind: string;
            subject: string;
            message: string;
            /** @enum {string} */
            severity: "critical" | "warning" | "notice";
            /** @description Who acts on it: `warehouse`, `integrator` or `operator`. */
            concerns: string;
            title: string;
            /** @description What to do. */
            toDo: string;
            /**
             * @description `person`: it stays open until a person resolves it.
             * @enum {string}
             */
            closes: "cause" | "person";
            /** @description Path of the list of its subjects; null: the message is complete. */
            list: string | null;
            /** @description Number of its subjects; null: the one in `subject`. */
            count: number | null;
            /** @description The earliest deadline of its subjects; null: they have none. */
            dueAt: string | null;
            /** Format: date-time */
            raisedAt: string;
            /** @description It is silenced until this time. */
            silencedUntil: string | null;
            silencedBy: string | null;
            silencedReason: string | null;
            resolvedAt: string | null;
            /** @description Who resolved it; null: it closed with its cause. */
            resolvedBy: string | null;
            resolvedReason: string | null;
        };
        InventoryDiscrepancy: {
            id: string;
            sellerId: string;
            sku: string;
            gtin: string | null;
            month: string;
            /**
             * @description balance: beginning and movements do not make the ending; carry-over: the beginning is not the ending of the previous month; others: report and log have different counts.
             * @enum {string}
             */
            kind: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
            /** @description Units in the report: its ending, its beginning, or its units of the kind. */
            reportUnits: number;
            /** @description Expected units by its other columns, the previous month, or the log. */
            expectedUnits: number;
            /** @description reportUnits minus expectedUnits. */
            difference: number;
            log: {
                /**
                 * @description missing: the log lacks units that the report counts; extra: it has units that the report does not count.
                 * @enum {string}
                 */
                verdict: "missing" | "extra";
                /**
                 * @description Certainty of the entries. certain: the report counts none of the kind; likely: duplicates that together make the difference; possible: each alone would make it; unknown: no candidate.
                 * @enum {string}
                 */
                certainty: "certain" | "likely" | "possible" | "unknown";
                entryCount: number;
                /** @description Entries of the log that may be superfluous, the first 100. */
                readonly entries: {
                    id: string;
                    /** Format: date-time */
                    transactionTime: string;
                    changedUnits: number;
                    fcName: string | null;
                    shipmentId: string | null;
                }[];
            } | null;
            /** @description The earliest day on which the difference can have arisen, by the calendar of the marketplace. */
            earliestDay: string;
            /** @description The SKU's last known price when this was found or last changed. */
            unitPrice: string | null;
            /** @description The differing units at that price. */
            value: string | null;
            currency: string | null;
            /** @enum {string} */
            state: "open" | "resolved";
            /** @description agrees: both sides agree again; withdrawn: the report no longer lists the SKU. */
            resolution: ("agrees" | "withdrawn") | null;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
            resolvedAt: string | null;
        };
        StockMonth: {
            sellerId: string;
            month: string;
            /** @description The GTIN where the report names no SKU. */
            sku: string;
            gtin: string | null;
            beginningQuantity: number;
            endingQuantity: number;
            sold: number;
            returned: number;
            lost: number;
            found: number;
            damaged: number;
            otherAdjustments: number;
            /** @description Movements before this time are counted. */
            coveredUntil: string | null;
            /** Format: date-time */
            changedAt: string;
        };
        GtinReport: {
            sellerId: string;
            gtin: string;
            month: string;
            generatedAt: string | null;
            /** @description Movements before this time are counted. */
            coveredUntil: string | null;
            rows: {
                sku: string;
                gtin: string | null;
                beginningQuantity: number;
                endingQuantity: number;
                sold: number;
                returned: number;
                lost: number;
                found: number;
                damaged: number;
                otherAdjustments: number;
                /** @description The inventory log has been read up to the end of the report. */
                compared: boolean;
                differences: {
                    /** @enum {string} */
                    kind: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
                    reportUnits: number;
                    expectedUnits: number;
                    difference: number;
                }[];
            }[];
        };
        ClaimItem: {
            id: string;
            sellerId: string;
            sku: string;
            gtin: string | null;
            month: string;
            /**
             * @description lost, damaged: as the report states; returned: came back by the log, not by the report; missing: without any reason; inbound: units of an inbound shipment that were not received.
             * @enum {string}
             */
            kind: "lost" | "damaged" | "missing" | "returned" | "inbound";
            /** @description The inbound shipment; null: units of the month. */
            shipmentId: string | null;
            /** @description Units that can be claimed now; units that are found again come off. */
            units: number;
            /**
             * @description reported: the report states the units; compared: report and log were compared; not-compared: the log was not read far enough.
             * @enum {string}
             */
            certainty: "reported" | "compared" | "not-compared";
            /** @description The whole log of the SKU was read after each difference of the month was found. */
            logRead: boolean;
            unitPrice: string | null;
            value: string | null;
            currency: string | null;
            /** @enum {string} */
            state: "open" | "filed" | "paid-in-part" | "paid" | "refused" | "expired" | "withdrawn";
            /** @description When it can no longer be filed; null: not computed yet. */
            deadline: string | null;
            /** @description The number of the case at the marketplace. */
            reference: string | null;
            filedUnits: number | null;
            /** @description What was paid, as a person or reports say. */
            paidAmount: string | null;
            /** @description What rows of settlement reports have paid; null: no row has. */
            reportedAmount: string | null;
            /** @description Units that these rows state. */
            reportedUnits: number | null;
            /** @description Who set the state; `report`: a report, the log or the deadline. */
            stateBy: string;
            /** Format: date-time */
            stateChangedAt: string;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
        };
        ClaimPayment: {
            sellerId: string;
            /** @description Report and position of the row. */
            lineKey: string;
            /** @description The only claim that the row can pay; null: it is not known which. */
            claimId: string | null;
            /** @description Why no claim is known. too-many-units: the row pays more units than any claim has left. */
            problem: ("no-sku" | "no-claim" | "several-claims" | "too-many-units") | null;
            /**
             * @description found: units that were found again, so that the payment is taken back.
             * @enum {string}
             */
            reimburses: "lost" | "damaged" | "returned" | "found";
            sku: string | null;
            /** @description A decimal; negative: taken back. */
            amount: string;
            currency: string | null;
            /** @description Null: the row states none. */
            units: number | null;
            /** @description `YYYY-MM-DD`. */
            reportDate: string;
            postedOn: string | null;
            description: string | null;
            /** Format: date-time */
            firstSeenAt: string;
        };
        ClaimEvidence: {
            id: string;
            sellerId: string;
            sku: string;
            gtin: string | null;
            month: string;
            kind: string;
            units: number;
            certainty: string;
            value: string | null;
            currency: string | null;
            state: string;
            deadline: string | null;
            reference: string | null;
            shipmentId: string | null;
            /** @description Fulfilment centers of the entries of the kind. */
            readonly centers: string[];
            /** @description The arithmetic in words, step by step. */
            readonly arithmetic: string[];
            readonly reportRows: {
                month: string;
                fileName: string | null;
                generatedAt: string | null;
                /** @description The row as it came, by its headers. */
                readonly columns: {
                    [key: string]: string;
                };
            }[];
            readonly logEntries: {
                id: string;
                transactionTime: string;
                changedUnits: number;
                /** @description The column of the report in which it belongs. */
                movement: string;
                fcName: string | null;
                shipmentId: string | null;
                type: string | null;
                reasonCode: string | null;
                reasonDescription: string | null;
                location: string | null;
            }[];
            /** @description Rows of settlement reports that have paid the claim. */
            readonly payments: {
                /** @description Report and position of the row. */
                lineKey: string;
                reportDate: string;
                postedOn: string | null;
                description: string | null;
                units: number | null;
                amount: string;
                currency: string | null;
            }[];
            /** @description Entries that are left out, because the month has too many. */
            omittedEntries: number;
        };
        InventoryClaim: {
            sellerId: string;
            month: string;
            /** @description SKUs of the month's report. */
            skus: number;
            /** @description SKUs whose log has been read far enough to be compared. */
            skusCompared: number;
            /** @description As the report states. */
            lost: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description As the report states. */
            damaged: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description As the report states. */
            found: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description Missing units without a movement that explains them. */
            unexplained: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description Units that may be missing, in no sum: the log may contain a duplicate, another month restores them, or the report has no row. */
            uncertain: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description Lost, damaged and unexplained. */
            total: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
            /** @description The same, minus found units of SKUs with lost units. */
            net: {
                units: number;
                /** @description At the last known prices, one for each currency. */
                readonly values: {
                    amount: string;
                    currency: string;
                }[];
                /** @description Units without a value, since no price of their SKUs is known. */
                unpricedUnits: number;
            };
        };
        Overview: {
            orders: {
                open: number;
                late: number;
                /** @description Open, and some units are not acknowledged. */
                toAcknowledge: number;
                /** @description Those of `toAcknowledge` whose deadline has passed. */
                acknowledgeOverdue: number;
                /** @description Those of `toAcknowledge` whose deadline is within an hour. */
                acknowledgeSoon: number;
                /** @description Open, and everything is acknowledged. */
                toShip: number;
                /** @description Open, and to be shipped within 24 hours. */
                shipSoon: number;
                /** @description Open, and cancelled by the marketplace within 24 hours unless they are shipped. */
                autoCancelSoon: number;
                /** @description Open, and to be shipped before `dueBy`, also late ones; null without `dueBy`. */
                dueBy: number | null;
            };
            returns: {
                /** @description Arrived, and past the deadline of their refund. */
                late: number;
                /** @description Arrived, and to be refunded within 12 hours. */
                refundSoon: number;
            };
            /** @description Settled ones count for 24 hours. */
            commands: {
                [key: string]: number;
            };
            waitingEvents: number;
            quarantined: number;
            /** @description Open discrepancies of inventory reports. */
            discrepancies: number;
            alarms: number;
            /** @description Proposed events that wait for a decision. */
            proposals: number;
            /** @description Work that waits for an operator; rejections until their alarm is closed. */
            needsPerson: {
                commandsHeld: number;
                commandsRejected: number;
                commandsWaiting: number;
                eventsRejected: number;
                /** @description Not decided within 15 minutes. */
                eventsWaiting: number;
                sellersStopped: number;
            };
        };
        HourOfWork: {
            /** Format: date-time */
            from: string;
            /**
             * Format: date-time
             * @description The hour by the marketplace's clock, for the orders.
             */
            orderedFrom: string;
            /** @description Orders by their date, by the marketplace's clock. */
            ordered: number;
            /** @description Commands that were confirmed. */
            confirmed: number;
            /** @description Commands that were rejected. */
            rejected: number;
        };
        OrderStates: {
            /**
             * Format: date-time
             * @description Orders from this time on, by the marketplace's clock.
             */
            from: string;
            ordered: number;
            open: number;
            /** @description Nothing is open, and some units were shipped. */
            shipped: number;
            /** @description Nothing is open, and no unit was shipped. */
            cancelled: number;
            /** @description Some units were refunded; they count as shipped too. */
            refunded: number;
        };
        PickedSku: {
            sellerId: string;
            sku: string | null;
            productName: string | null;
            /** @description Units that are neither shipped nor cancelled, nor part of a shipment or cancellation that is being sent. */
            units: number;
            /** @description Orders that need them. */
            orders: number;
            /** @description The earliest time by which one of them must be shipped. */
            shipBy: string | null;
        };
        Budget: {
            sellerId: string;
            operation: string;
            /** @description Part of the operation with its own limit, such as a month; null: the whole operation. */
            scope: string | null;
            /** @description Requests that could be sent now. */
            available: number;
            /** @description Requests per minute in the long run, as learned so far. */
            perMinute: number;
            /** @description When the wait that the marketplace requested ends; null: it requested none. */
            blockedUntil: string | null;
        };
        OperationBudget: {
            operation: string;
            /** @description Limits of sellers, or of parts of the operation with their own limit. */
            limits: number;
            /** @description Limits that allow no request now. */
            usedUp: number;
            /** @description The limit with the fewest remaining requests. */
            least: components["schemas"]["Budget"];
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "failing";
            checks: {
                name: string;
                ok: boolean;
                detail?: string;
            }[];
        };
        Key: {
            id: string;
            /** @description Its actor in the audit. */
            name: string;
            readonly scopes: ("read" | "events:write" | "propose" | "operate")[];
            /** @description Sellers that it is bound to; null: all. */
            sellerIds: string[] | null;
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            rotatedAt: string | null;
            /** @description Until when the previous secret is accepted. */
            previousUntil: string | null;
            /** @description Written at most once a minute. */
            lastUsedAt: string | null;
            revokedAt: string | null;
        };
        NewKey: {
            id: string;
            /** @description Its actor in the audit. */
            name: string;
            readonly scopes: ("read" | "events:write" | "propose" | "operate")[];
            /** @description Sellers that it is bound to; null: all. */
            sellerIds: string[] | null;
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            rotatedAt: string | null;
            /** @description Until when the previous secret is accepted. */
            previousUntil: string | null;
            /** @description Written at most once a minute. */
            lastUsedAt: string | null;
            revokedAt: string | null;
            /** @description The key. Shown in this answer only. */
            key: string;
        };
        Session: {
            /** @description Whether requests with this cookie or key are accepted. false: sign in. */
            signedIn: boolean;
            /** @description Name of the key; null: API_KEY, or no key is needed. */
            name: string | null;
            readonly scopes: ("read" | "events:write" | "propose" | "operate")[];
            /** @description Sellers that the key is bound to; null: all. */
            sellers: string[] | null;
            /** @description When the session ends; null: there is none. */
            expiresAt: string | null;
            /** @description Version of the daemon. */
            version: string | null;
            /** @description `sandbox`: the built-in one; `demonstration`: the built-in one with the demonstration ERP; null: not signed in. */
            marketplace: ("real" | "sandbox" | "demonstration") | null;
            /**
             * Format: date-time
             * @description The daemon's time.
             */
            now: string;
            /** @description The marketplace's time for each seller, by which orders are late. */
            readonly clocks: {
                sellerId: string;
                /** Format: date-time */
                now: string;
            }[];
        };
        ChannelHours: {
            /** @description Local time at which the hours begin. */
            from: string;
            /** @description Local time at which they end; not later than `from`: on the next day. */
            to: string;
            /** @description IANA name of the time zone. */
            timeZone: string;
            /**
             * @description Days on which the hours begin; 1: Monday, 7: Sunday. Default: every day.
             * @default [
             *       1,
             *       2,
             *       3,
             *       4,
             *       5,
             *       6,
             *       7
             *     ]
             */
            weekdays: number[];
        };
        AlarmChannel: {
            id: string;
            name: string;
            /** @enum {string} */
            kind: "slack" | "teams" | "email";
            /** @description Host of its URL, which is secret, or the recipients. */
            target: string;
            /** @description Severities of the alarms that it gets. */
            readonly severities: ("critical" | "warning" | "notice")[];
            /** @description Audiences of the alarms that it gets; empty: all. */
            readonly concerns: ("warehouse" | "integrator" | "operator")[];
            /** @description Sellers of the alarms that it gets; empty: all, and alarms of the daemon itself. */
            readonly sellerIds: string[];
            /** @description When messages are sent; outside of these hours they wait. null: always. */
            hours: components["schemas"]["ChannelHours"] | null;
            /** @description An alarm that stays open is repeated after this number of hours; null: never. */
            repeatHours: number | null;
            /**
             * @description paused: nothing is sent; alarms that are still open when it is resumed are sent then.
             * @enum {string}
             */
            state: "active" | "paused";
            /** @description Failed attempts since the last success. */
            failures: number;
            failingSince: string | null;
            /** @description Why the last attempt failed, or what was not accepted: a code or a status. */
            lastError: string | null;
            lastSentAt: string | null;
            /** @description After a failure: when the next attempt is due. */
            nextAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        NamedDay: {
            sellerId: string;
            /** @enum {string} */
            source: "returns" | "inventory-log" | "settlements" | "events" | "notifications";
            /** Format: date */
            day: string;
            named: number;
            stored: number;
            /** @description Not stored yet; each is requested by its id. */
            missing: number;
            /** @description Not stored, for a known reason. */
            explained: number;
            /** @description The first 100, by id. */
            readonly missingIds: string[];
            /** @description The first 100, by id. */
            readonly explanations: {
                purchaseOrderId: string;
                reason: string;
            }[];
        };
        Trouble: {
            /** @description An order whose shipment was interrupted after a part of its units: its command is held soon. */
            heldOrder: string;
            /** @description An order that is late, with an event that was rejected. */
            lateOrder: string;
        };
        Drift: {
            id: string;
            sellerId: string;
            /** @description The operation, as in `RATE_LIMITS`. */
            operation: string;
            /**
             * @description An unknown field, value of an enumeration, type of a value, header that announces an end, or HTTP status.
             * @enum {string}
             */
            kind: "field" | "value" | "type" | "header" | "status";
            /** @description Members with dots, `[]` for the elements of a list; the name of a header; an HTTP status. `*`: a name that may be data. */
            path: string;
            /** @description The unknown value, if it is a plain word; otherwise empty. */
            value: string;
            /** @description What was found, without personal data: a type, the length of a text, a value, a date. */
            example: string;
            /** @description Number of compared records, or of answers, that had it. */
            count: number;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            lastSeenAt: string;
        };
        Erasure: {
            sellerId: string;
            customerOrderId: string;
            purchaseOrderIds: string[];
            returnOrderIds: string[];
            /** @description Orders with units that are neither shipped nor cancelled: their shipment still needs the address. */
            openPurchaseOrderIds: string[];
            /** @description Rows with data, by table. */
            rows: {
                [key: string]: number;
            };
            /** @description Entry of the audit; null: dry run, nothing was erased. */
            auditId: string | null;
        };
        Proposal: {
            id: string;
            sellerId: string;
            type: string;
            /** @description Data of the event. */
            data: unknown;
            /** @description Why the program proposes it. */
            reason: string;
            /**
             * @description approving: approved, and its event is being posted; if that was interrupted, approve it again.
             * @enum {string}
             */
            state: "open" | "approving" | "approved" | "rejected";
            proposedBy: string;
            /** Format: date-time */
            proposedAt: string;
            decidedBy: string | null;
            decidedAt: string | null;
            decisionReason: string | null;
        };
        /** @description `actBy`: by when the marketplace wants it, on its clock. `expectedAt`: when its request is sent; null: not within the time. */
        ForecastCommand: {
            commandId: string;
            sellerId: string;
            purchaseOrderId: string | null;
            kind: string;
            readonly lines: string[];
            /** Format: date-time */
            actBy: string;
            expectedAt: string | null;
        };
        Forecast: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            until: string;
            readonly sellerIds: string[];
            /** @description What was taken for granted. */
            readonly assumptions: string[];
            /** @description `pages` that are left are an estimate by `basis`: the average of the windows that were read, the count of the current one, or nothing: one page a window. `endsAt`: null: not within the time. */
            readonly backfills: {
                sellerId: string;
                resource: string;
                stream: string;
                windowsLeft: number;
                pages: number;
                /** @enum {string} */
                basis: "windows-read" | "window-under-way" | "nothing";
                operation: string;
                endsAt: string | null;
            }[];
            /** @description The most used first. The limit is `tokens` calls in `perMs` ms; as reported or learned, `perMinute` calls are let through, of which polls take `pollsPerMinute`, and none before `blockedUntil`. `open`: calls of open commands, and pages of backfills that are left; the last one is sent at `lastAt` (null: none is open, or never). Within the time, `calls` of `allowed` are sent, which is `share`. */
            readonly operations: {
                sellerId: string;
                operation: string;
                tokens: number;
                perMs: number;
                perMinute: number;
                pollsPerMinute: number;
                open: number;
                blockedUntil: string | null;
                lastAt: string | null;
                calls: number;
                allowed: number;
                share: number;
            }[];
            commands: {
                open: number;
                sent: number;
                unsent: number;
                late: number;
                /** @description That are sent after the marketplace wants them, or have not been until it does: the first 200, by their deadlines. */
                readonly lateOnes: components["schemas"]["ForecastCommand"][];
            };
            /** @description Of `commandId`: its `position` among the calls of `operation`, and when it is sent, be it after the time. Null: nothing is sent for it. */
            command: {
                commandId: string;
                sellerId: string;
                purchaseOrderId: string | null;
                kind: string;
                readonly lines: string[];
                actBy: string | null;
                operation: string | null;
                position: number | null;
                expectedAt: string | null;
            } | null;
            shipBy: {
                /** @description Shipments that are queued and sent late; the first 200. */
                readonly atRisk: components["schemas"]["ForecastCommand"][];
                /** @description Orders whose deadline comes within the time and of which the ERP has said nothing; the first 200. */
                readonly waitingForErp: {
                    sellerId: string;
                    purchaseOrderId: string;
                    /** @enum {string} */
                    wants: "acknowledge" | "ship";
                    /** Format: date-time */
                    by: string;
                }[];
                waitingForErpCount: number;
            };
        };
        RetainedData: {
            /** @enum {string} */
            data: "runs" | "attempts" | "versions" | "changes" | "events" | "alarms" | "quarantine" | "deliveries" | "notifications" | "log-entries";
            /** @description Name of the setting. */
            setting: string;
            /** @description How long it is kept, in milliseconds; null: for ever. */
            keepMs: number | null;
            table: string;
            rows: number;
            /** @description On disk, with indexes and long values. */
            bytes: number;
            /** @description Oldest row in the sample; null: there is none. */
            oldest: string | null;
            /** @description What would be removed now. Of events, and of attempts that still count, only the large columns are emptied. */
            going: {
                rows: number;
                bytes: number;
            };
            /** @description Estimated from a part of the pages: the table is large. */
            estimated: boolean;
            /** @description A process is removing data of the table, or was until a minute ago. */
            running: boolean;
            /**
             * Format: date-time
             * @description When the next pass begins, within an hour.
             */
            dueAt: string;
            /** @description When the last pass ended. */
            finishedAt: string | null;
            /** @description Rows that the last pass removed or emptied. */
            lastRemoved: number | null;
        };
        LateReturn: {
            sellerId: string;
            returnOrderId: string;
            /**
             * Format: date-time
             * @description The earliest deadline of its lines.
             */
            refundBy: string;
            /**
             * @description late: the deadline has passed; soon: it passes within 12 hours.
             * @enum {string}
             */
            state: "late" | "soon";
            readonly lines: {
                returnLineNumber: number;
                /** @description The order of the units; null: the marketplace names none. */
                purchaseOrderId: string | null;
                /** @description Its line. */
                lineNumber: string | null;
                sku: string | null;
                /** @description Units that have arrived and are not refunded. */
                units: number;
                /**
                 * Format: date-time
                 * @description When the first of them arrived, by the marketplace's status; without its time: when the status was stored.
                 */
                arrivedAt: string;
                /** Format: date-time */
                refundBy: string;
                /** @description Goods that are refunded through their order only, by `erp.credit.issued`. */
                exceptionItemType: string | null;
            }[];
        };
        Found: {
            /** @enum {string} */
            kind: "order" | "customer-order" | "tracking-number" | "sku" | "command" | "event";
            /** @description The id, number or SKU that begins with `q`, or the id of an order or customer order that ends with it. */
            text: string;
            /** @description It is equal to `q`. */
            exact: boolean;
            /** @description Null: the seller of an event is unknown. */
            sellerId: string | null;
            /** @description The order of an order, a customer order or a tracking number. */
            purchaseOrderId: string | null;
            /** @description The source of an event. */
            source: string | null;
        };
        Seller: {
            sellerId: string;
            /**
             * @description stopped: the marketplace refuses the credentials; paused: by an operator. In both states nothing of the seller runs.
             * @enum {string}
             */
            state: "active" | "stopped" | "paused";
            /** @description Why it is stopped or paused, and what to do. */
            reason: string | null;
            /** @description Since when it is stopped or paused. */
            since: string | null;
            pausedBy: string | null;
            /** @description When the next token is requested while it is stopped. */
            nextProbeAt: string | null;
            /** @description Whether it is in the settings of this daemon. */
            served: boolean;
            /** @description When an operator removed it and kept its records; null: it is not removed, or is in the settings of a process again. */
            removedAt: string | null;
            removedBy: string | null;
            /**
             * @description shadow: everything is read, decided and reserved, and nothing is written to the marketplace; commands end as `predicted`.
             * @enum {string}
             */
            mode: "live" | "shadow";
            /**
             * Format: date-time
             * @description When the mode began.
             */
            modeSince: string;
            /** @description Who decided on the mode; null: the setting `MODE`. */
            modeBy: string | null;
        };
        ListedSeller: {
            sellerId: string;
            /**
             * @description stopped: the marketplace refuses the credentials; paused: by an operator. In both states nothing of the seller runs.
             * @enum {string}
             */
            state: "active" | "stopped" | "paused";
            /** @description Why it is stopped or paused, and what to do. */
            reason: string | null;
            /** @description Since when it is stopped or paused. */
            since: string | null;
            pausedBy: string | null;
            /** @description When the next token is requested while it is stopped. */
            nextProbeAt: string | null;
            /** @description Whether it is in the settings of this daemon. */
            served: boolean;
            /** @description When an operator removed it and kept its records; null: it is not removed, or is in the settings of a process again. */
            removedAt: string | null;
            removedBy: string | null;
            /**
             * @description shadow: everything is read, decided and reserved, and nothing is written to the marketplace; commands end as `predicted`.
             * @enum {string}
             */
            mode: "live" | "shadow";
            /**
             * Format: date-time
             * @description When the mode began.
             */
            modeSince: string;
            /** @description Who decided on the mode; null: the setting `MODE`. */
            modeBy: string | null;
            /** @description Processes that serve it, by their reports of the last minute, without those that have ended on this machine. */
            servedBy: string[];
            /** @description Open orders; at most 10000 are counted. */
            openOrders: number;
            /** @description Open orders that should have been shipped; at most 10000 are counted. */
            lateOrders: number;
            /** @description Commands that are in progress or wait; at most 10000 are counted. */
            openCommands: number;
            /** @description Commands that a person must decide on; at most 10000 are counted. */
            heldCommands: number;
            /** @description Events that wait to be decided; at most 10000 are counted. */
            waitingEvents: number;
            /** @description Open records of the quarantine; at most 10000 are counted. */
            quarantined: number;
            /** @description Open alarms; at most 10000 are counted. */
            openAlarms: number;
            /** @description Streams whose last run failed: `GET /v1/syncs`. */
            failingStreams: number;
            /** @description Longest time since an order stream was read completely; null: one has never been. */
            ordersLagSeconds: number | null;
            /** @description The stream with the longest lag, without backfills; null: none has been read completely. */
            furthestBehind: {
                resource: string;
                stream: string;
                /** @description Time since it was read completely. */
                lagSeconds: number;
            } | null;
            /** @description Operations whose rate limit is used up, by reports of processes (some seconds old) and by commands that wait for it. */
            waitingOperations: {
                operation: string;
                /** @description The part of the operation that the limit is for, such as one report; null: all of its requests. */
                scope: string | null;
                /** @description When the wait that the marketplace requested ends, or when the first waiting command continues. */
                until: string | null;
            }[];
        };
        ReloadedSellers: {
            /** @description Ids of the sellers that this process serves now. */
            sellers: string[];
            added: string[];
            removed: string[];
            /** @description Results of the other processes that share the database; null: they could not be reached. */
            others: {
                process: string;
                roles: string[];
                /** @description Ids of the sellers that it serves now. */
                sellers: string[];
                /**
                 * @description faulty: its settings are invalid, its sellers are unchanged; unanswered: no answer within five seconds.
                 * @enum {string}
                 */
                state: "reread" | "faulty" | "unanswered";
                faults: string[];
            }[] | null;
        };
        RemovedSeller: {
            sellerId: string;
            /** @description true: it had no records and is deleted. false: it is hidden, and its records stay readable. */
            deleted: boolean;
            /** @description When it was hidden; null: it is deleted. */
            removedAt: string | null;
        };
        Setting: {
            /** @description Name of the variable. */
            name: string;
            /** @description A sentence with code in backticks. */
            meaning: string;
            /** @description In the syntax of the variable; null: nothing is set, or it is a secret. */
            value: string | null;
            /** @description Its value is never shown. */
            secret: boolean;
            /** @description Whether there is a value, a default included. */
            isSet: boolean;
            /**
             * @description file: the variable with `_FILE` names it.
             * @enum {string}
             */
            from: "default" | "environment" | "file";
        };
        ShadowOrder: {
            sellerId: string;
            purchaseOrderId: string;
            /**
             * @description difference: the other system did something else than was predicted; missing: it did not do within 24 hours what was predicted; unpredicted: it did something that no event predicted; pending: it has not done yet what was predicted; agreement: it did what was predicted. The first one that is true of a part of the order.
             * @enum {string}
             */
            verdict: "difference" | "missing" | "unpredicted" | "pending" | "agreement";
            /** @description When the order was last read; null: it is not stored. */
            observedAt: string | null;
            /** @description The predicted commands, in their order. */
            readonly commands: {
                commandId: string;
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @enum {string} */
                verdict: "difference" | "missing" | "pending" | "agreement";
                /** Format: date-time */
                predictedAt: string;
                /** @description Whether the order shows all units of it. */
                shown: boolean;
                /** @description How much later than the prediction the lines of the order changed, negative if earlier; null: not shown, or a later change hides it. */
                laterSeconds: number | null;
                /** @description Predicted units by line, and by parcel; empty for an acknowledgement and a correction. */
                readonly units: {
                    lineNumber: string;
                    quantity: number;
                    /** @description Those of the units that the order shows. */
                    shown: number;
                    /** @description What a refund gives back, tax included; null: no refund, or not known. */
                    amount: string | null;
                }[];
                readonly differences: {
                    /**
                     * @description units: another quantity; twice: at least twice the quantity; cancelled, shipped: instead of what was predicted; tracking, carrier, money: other values.
                     * @enum {string}
                     */
                    kind: "units" | "twice" | "cancelled" | "shipped" | "tracking" | "carrier" | "money";
                    lineNumber: string;
                    /** @description Units, a tracking number, a carrier or an amount. */
                    predicted: string;
                    /** @description The same, as the order shows it. */
                    shown: string;
                }[];
            }[];
            /** @description Units that were processed since shadow mode began, and that no event predicted. */
            readonly unpredicted: {
                lineNumber: string;
                /** @enum {string} */
                kind: "ship" | "cancel" | "refund";
                quantity: number;
            }[];
        };
        ShadowCounts: {
            difference: number;
            missing: number;
            unpredicted: number;
            pending: number;
            agreement: number;
            /** @description false: there are more than about 10,000 orders; the first ones are counted. */
            complete: boolean;
        };
        SellerMode: {
            seller: components["schemas"]["Seller"];
            /** @description Commands that ended, predicted or not predicted yet, whether the other system has done them or not: nothing of them was sent, and nothing will be. If the order of one does not show it, and Tallyman shall do it, send its event again with a new id. */
            withdrawn: string[];
            /** @description Those of them that were not predicted, or whose orders do not show all units of the prediction. */
            notShown: string[];
            /** @description Orders that differed from their predictions when the seller went live. */
            differences: number;
        };
        StockOnHand: {
            sellerId: string;
            sku: string;
            itemName: string | null;
            gtin: string | null;
            itemId: string | null;
            offerId: string | null;
            brand: string | null;
            itemCondition: string | null;
            publishingStatus: string | null;
            lifecycle: string | null;
            stockStatus: string | null;
            /** @description Units that can be sold. */
            availableUnits: number;
            /** @description Units of orders that are not shipped yet. */
            reservedUnits: number | null;
            /** @description Available, reserved and unavailable units. */
            onHandUnits: number | null;
            /** @description Units on their way to the fulfillment service. */
            inboundUnits: number | null;
            /** @description Unavailable: the marketplace reviews them. */
            inReviewUnits: number | null;
            /** @description Unavailable: they move between warehouses. */
            inMovementUnits: number | null;
            /** @description Units by the days since they arrived. */
            ageUnits: {
                days0To90: number | null;
                days91To180: number | null;
                days181To270: number | null;
                days271To365: number | null;
                daysOver365: number | null;
            };
            /** @description `YYYY-MM-DD`. */
            firstInStockOn: string | null;
            insights: {
                /** @description A decimal; what the marketplace expects. */
                daysOfSupply: string | null;
                /** @description `YYYY-MM-DD`. */
                outOfStockOn: string | null;
                /** @description A decimal; what the marketplace expects. */
                salesForecastWeeks1To4: string | null;
                /** @description A decimal; what the marketplace expects. */
                salesForecastWeeks5To8: string | null;
                /** @description A decimal; what the marketplace expects. */
                salesForecastWeeks9To12: string | null;
                /** @description A decimal; what the marketplace expects. */
                sellThroughRate: string | null;
                /** @description A decimal; what the marketplace expects. */
                suggestedUnits: string | null;
                /** @description A decimal; what the marketplace expects. */
                surplusUnits: string | null;
            };
            /** @description Since then the marketplace's list is without the SKU. */
            missingSince: string | null;
            /**
             * Format: date-time
             * @description When the marketplace returned this version, on the marketplace's clock.
             */
            observedAt: string;
            /** Format: date-time */
            changedAt: string;
        };
        StockDifference: {
            id: string;
            sellerId: string;
            sku: string;
            gtin: string | null;
            /** @description Units on hand, by the marketplace's list. */
            countedUnits: number;
            /** @description The opening units, and the movements of the inventory log from `openingAt` to `asOf`. */
            balanceUnits: number;
            /** @description countedUnits minus balanceUnits. */
            difference: number;
            /**
             * Format: date-time
             * @description When the list stated the counted units, on the marketplace's clock.
             */
            asOf: string;
            /** @description The ending of the newest monthly report that covers no later time than `asOf`. */
            openingUnits: number;
            /**
             * Format: date-time
             * @description Up to when that report counts movements.
             */
            openingAt: string;
            /** @description The SKU's last known price when this was found or last changed. */
            unitPrice: string | null;
            /** @description The differing units at that price. */
            value: string | null;
            currency: string | null;
            /** @enum {string} */
            state: "open" | "resolved";
            /** @description agrees: list and log agree again; withdrawn: they can no longer be compared. */
            resolution: ("agrees" | "withdrawn") | null;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
            resolvedAt: string | null;
        };
        InboundShipmentLine: {
            sellerId: string;
            /** @description As in the inventory log. */
            shipmentId: string;
            sku: string;
            sentUnits: number;
            /** @description Receipts of the inventory log with this shipment id, with their corrections. */
            receivedUnits: number;
            /** @description receivedUnits minus sentUnits. */
            difference: number;
            /** Format: date-time */
            shippedAt: string;
            /**
             * Format: date-time
             * @description When all units should be received: from the event, or 30 days after `shippedAt`.
             */
            expectedBy: string;
            /** @description When the fulfillment center got the shipment, from the event; null: it states none. */
            deliveredAt: string | null;
            /** @description The first receipt of the SKU; null: none. */
            firstReceivedAt: string | null;
            /** @description Since when all sent units are received; null: they are not. */
            completeAt: string | null;
            /** @description Up to when the log of the SKU was read when the two were compared; null: never. */
            logReadUpTo: string | null;
            /**
             * @description open: less was received, and the log is not read up to `expectedBy`; short: it is; complete: as many as sent; over: more than sent; unknown-sku: nothing was received, and neither orders, stock, reports nor the log have the SKU.
             * @enum {string}
             */
            state: "open" | "complete" | "short" | "over" | "unknown-sku";
            /** @description Not all units were received by `expectedBy`. */
            late: boolean;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
        };
        Resource: {
            resource: string;
            /** @description Whether it supports backfills. */
            backfill: boolean;
        };
        Target: {
            sellerId: string;
            /**
             * @description contextual: by the viewed items; behavioral: by audience.
             * @enum {string}
             */
            tactic: "behavioral" | "contextual";
            id: string;
            name: string | null;
            /** @description Names from the department down. */
            taxonPath: string[] | null;
            /** @description Items at this node of the taxonomy; null: not known. */
            itemCount: number | null;
            /** @description TIER_1 to TIER_7; null for audiences. */
            reach: string[] | null;
            /** @description LOW, MID, HIGH; null for audiences. */
            reachBands: string[] | null;
            audienceType: string | null;
            attribute: string | null;
            /** @description null: the marketplace does not say. */
            isDisabled: boolean | null;
            /** @description Time since which complete listings do not contain it. */
            missingSince: string | null;
            /** @description Whether an ad group may use it now: neither disabled nor missing. */
            usable: boolean;
            /** Format: date-time */
            firstSeenAt: string;
            /** Format: date-time */
            changedAt: string;
        };
        Trend: {
            /**
             * @description `on-time`: share of the shipped units; `hours-to-ship`: mean from order to shipment; `refunds`: units; `seconds-to-confirm`: mean from event to confirmed command; `lag`: the largest of the day, over all sellers; `calls`, `calls-refused`: requests to the marketplace, and those it refused for their rate; `money-at-stake`: open differences of inventory, stock and settlements at the end of the day.
             * @enum {string}
             */
            figure: "orders" | "on-time" | "hours-to-ship" | "refunds" | "seconds-to-confirm" | "lag" | "calls" | "calls-refused" | "money-at-stake";
            /** @description A currency, or the resource of a sync; empty: nothing in particular. */
            part: string;
            /** @enum {string} */
            unit: "count" | "share" | "hours" | "seconds" | "money";
            /** @description A decimal for each of `days`; null: nothing is known of it. */
            readonly values: (string | null)[];
            /** @description The same for the period before. */
            readonly previous: (string | null)[];
        };
        Webhook: {
            id: string;
            url: string;
            /** @description Types of changes that it receives; empty: all. */
            readonly types: string[];
            /** @description Seller whose changes it receives; null: all sellers. */
            sellerId: string | null;
            /**
             * @description paused: nothing is sent, and changes are kept until it is resumed; disabled: nothing is sent, and undelivered changes are removed after RETAIN_CHANGES.
             * @enum {string}
             */
            state: "active" | "paused" | "disabled";
            /** @description Why it is paused or disabled. */
            reason: string | null;
            /** Format: date-time */
            stateSince: string;
            /** @description Every matching change up to this number has become a delivery. */
            position: string;
            /** @description First failure since the last success. */
            failingSince: string | null;
            lastSuccessAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        NewWebhook: {
            id: string;
            url: string;
            /** @description Types of changes that it receives; empty: all. */
            readonly types: string[];
            /** @description Seller whose changes it receives; null: all sellers. */
            sellerId: string | null;
            /**
             * @description paused: nothing is sent, and changes are kept until it is resumed; disabled: nothing is sent, and undelivered changes are removed after RETAIN_CHANGES.
             * @enum {string}
             */
            state: "active" | "paused" | "disabled";
            /** @description Why it is paused or disabled. */
            reason: string | null;
            /** Format: date-time */
            stateSince: string;
            /** @description Every matching change up to this number has become a delivery. */
            position: string;
            /** @description First failure since the last success. */
            failingSince: string | null;
            lastSuccessAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Standard Webhooks secret. Shown in this answer only. */
            secret: string;
        };
        WebhookDelivery: {
            id: string;
            /** @description `seq` of the change; null: a test. */
            changeSequence: string | null;
            /** @description Attempts made by the current schedule. */
            attempt: number;
            /**
             * @description pending: waits for its next attempt; failed: given up.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description When the last attempt ended. */
            at: string | null;
            /** @description When it is due. It is sent later while an earlier message of its order waits. */
            nextAt: string | null;
            /** @description Status of the last attempt; null: there was no answer. */
            httpStatus: number | null;
            /** @description Why there was no answer: a code such as timeout, address-refused or ECONNREFUSED. */
            error: string | null;
            /** @description The last twenty attempts, oldest first. */
            attempts: {
                at: string;
                httpStatus: number | null;
                error: string | null;
                durationMs: number;
            }[];
            /** Format: date-time */
            createdAt: string;
        };
        /**
         * @description A purchase order was stored for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "order.seen",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "customerOrderId": "5281956426648",
         *         "orderDate": "2026-03-01T09:30:00.000Z",
         *         "shipNodeType": "SellerFulfilled",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "sku": "MUG-BLUE",
         *             "ordered": 2
         *           }
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeOrderSeen: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.seen";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                customerOrderId: string | null;
                orderDate: string | null;
                shipNodeType: string | null;
                readonly lines: {
                    lineNumber: string;
                    sku: string | null;
                    ordered: number;
                }[];
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The header of an order changed: dates, method, total, or data of its buyer.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "order.changed",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "fields": [
         *           "estimatedShipDate"
         *         ],
         *         "before": {
         *           "customerOrderId": "5281956426648",
         *           "orderDate": "2026-03-01T09:30:00.000Z",
         *           "orderType": "REGULAR",
         *           "shipNodeType": "SellerFulfilled",
         *           "methodCode": "Standard",
         *           "estimatedShipDate": "2026-03-03T07:00:00.000Z",
         *           "estimatedDeliveryDate": "2026-03-06T07:00:00.000Z",
         *           "totalAmount": "27.98",
         *           "currency": "USD"
         *         },
         *         "after": {
         *           "customerOrderId": "5281956426648",
         *           "orderDate": "2026-03-01T09:30:00.000Z",
         *           "orderType": "REGULAR",
         *           "shipNodeType": "SellerFulfilled",
         *           "methodCode": "Standard",
         *           "estimatedShipDate": "2026-03-04T07:00:00.000Z",
         *           "estimatedDeliveryDate": "2026-03-06T07:00:00.000Z",
         *           "totalAmount": "27.98",
         *           "currency": "USD"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeOrderChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Names of the changed fields. Fields of the buyer (`customerName`, `shippingAddress`) are named, but only the order has their values. */
                readonly fields: string[];
                before: {
                    customerOrderId: string | null;
                    orderDate: string | null;
                    orderType: string | null;
                    shipNodeType: string | null;
                    methodCode: string | null;
                    estimatedShipDate: string | null;
                    estimatedDeliveryDate: string | null;
                    totalAmount: string | null;
                    currency: string | null;
                };
                after: {
                    customerOrderId: string | null;
                    orderDate: string | null;
                    orderType: string | null;
                    shipNodeType: string | null;
                    methodCode: string | null;
                    estimatedShipDate: string | null;
                    estimatedDeliveryDate: string | null;
                    totalAmount: string | null;
                    currency: string | null;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The units, statuses or refunds of an order line changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "order_line.changed",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": "1",
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": {
         *           "ordered": 2,
         *           "acknowledged": 2,
         *           "shipped": 0,
         *           "cancelled": 0,
         *           "refunded": 0,
         *           "refundedAmount": "0",
         *           "intentToCancel": false,
         *           "statuses": [
         *             {
         *               "status": "Acknowledged",
         *               "quantity": 2,
         *               "cancellationReason": null,
         *               "carrier": null,
         *               "trackingNumber": null
         *             }
         *           ]
         *         },
         *         "after": {
         *           "ordered": 2,
         *           "acknowledged": 2,
         *           "shipped": 2,
         *           "cancelled": 0,
         *           "refunded": 0,
         *           "refundedAmount": "0",
         *           "intentToCancel": false,
         *           "statuses": [
         *             {
         *               "status": "Shipped",
         *               "quantity": 2,
         *               "cancellationReason": null,
         *               "carrier": "UPS",
         *               "trackingNumber": "1Z999AA10123456784"
         *             }
         *           ]
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeOrderLineChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order_line.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string | null;
                /** @description Null: the line is new. */
                before: {
                    ordered: number;
                    acknowledged: number;
                    shipped: number;
                    cancelled: number;
                    refunded: number;
                    refundedAmount: string;
                    intentToCancel: boolean;
                    readonly statuses: {
                        status: string;
                        quantity: number;
                        cancellationReason: string | null;
                        carrier: string | null;
                        trackingNumber: string | null;
                    }[];
                } | null;
                after: {
                    ordered: number;
                    acknowledged: number;
                    shipped: number;
                    cancelled: number;
                    refunded: number;
                    refundedAmount: string;
                    intentToCancel: boolean;
                    readonly statuses: {
                        status: string;
                        quantity: number;
                        cancellationReason: string | null;
                        carrier: string | null;
                        trackingNumber: string | null;
                    }[];
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The marketplace no longer has an order that is stored.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "order.missing",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {},
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeOrderMissing: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.missing";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: Record<string, never> | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The buyer of an order was erased. Readers must remove their copies of the buyer.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "order.erased",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "customerOrderId": "5281956426648"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeOrderErased: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "order.erased";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                customerOrderId: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A return was stored for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "return.seen",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": "188600142000000000",
         *       "commandId": null,
         *       "data": {
         *         "customerOrderId": "5281956426648",
         *         "returnType": "ORIGINAL",
         *         "totalRefundAmount": "13.99",
         *         "currency": "USD",
         *         "lines": [
         *           {
         *             "returnOrderLineNumber": 1,
         *             "purchaseOrderId": "1796277083022",
         *             "purchaseOrderLineNumber": "1",
         *             "sku": "MUG-BLUE",
         *             "quantity": 1,
         *             "refundedQuantity": null,
         *             "refundCoveredBy": null,
         *             "status": "INITIATED",
         *             "trackingStatuses": [
         *               {
         *                 "status": "INITIATED",
         *                 "currentRefundStatus": "NOT_ELIGIBLE",
         *                 "quantity": 1
         *               }
         *             ],
         *             "refundChannels": [
         *               {
         *                 "refundChannelName": "ELECTRONIC_REFUND",
         *                 "quantity": 1
         *               }
         *             ]
         *           }
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReturnSeen: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "return.seen";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                customerOrderId: string | null;
                returnType: string | null;
                totalRefundAmount: string | null;
                currency: string | null;
                readonly lines: {
                    returnOrderLineNumber: number;
                    purchaseOrderId: string | null;
                    purchaseOrderLineNumber: string | null;
                    sku: string | null;
                    quantity: number;
                    refundedQuantity: number | null;
                    refundCoveredBy: string | null;
                    status: string | null;
                    readonly trackingStatuses: {
                        status: string | null;
                        currentRefundStatus: string | null;
                        quantity: number | null;
                    }[];
                    readonly refundChannels: {
                        refundChannelName: string | null;
                        quantity: number | null;
                    }[];
                }[];
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The state, refund or tracking of a return line changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "return_line.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": "1",
         *       "returnOrderId": "188600142000000000",
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": {
         *           "quantity": 1,
         *           "refundedQuantity": null,
         *           "refundCoveredBy": null,
         *           "status": "INITIATED",
         *           "trackingStatuses": [
         *             {
         *               "status": "INITIATED",
         *               "currentRefundStatus": "NOT_ELIGIBLE",
         *               "quantity": 1
         *             }
         *           ],
         *           "refundChannels": [
         *             {
         *               "refundChannelName": "ELECTRONIC_REFUND",
         *               "quantity": 1
         *             }
         *           ]
         *         },
         *         "after": {
         *           "quantity": 1,
         *           "refundedQuantity": null,
         *           "refundCoveredBy": null,
         *           "status": "DELIVERED",
         *           "trackingStatuses": [
         *             {
         *               "status": "INITIATED",
         *               "currentRefundStatus": "NOT_ELIGIBLE",
         *               "quantity": 1
         *             }
         *           ],
         *           "refundChannels": [
         *             {
         *               "refundChannelName": "ELECTRONIC_REFUND",
         *               "quantity": 1
         *             }
         *           ]
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReturnLineChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "return_line.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string | null;
                /** @description Null: the line is new. */
                before: {
                    quantity: number;
                    refundedQuantity: number | null;
                    refundCoveredBy: string | null;
                    status: string | null;
                    readonly trackingStatuses: {
                        status: string | null;
                        currentRefundStatus: string | null;
                        quantity: number | null;
                    }[];
                    readonly refundChannels: {
                        refundChannelName: string | null;
                        quantity: number | null;
                    }[];
                } | null;
                after: {
                    quantity: number;
                    refundedQuantity: number | null;
                    refundCoveredBy: string | null;
                    status: string | null;
                    readonly trackingStatuses: {
                        status: string | null;
                        currentRefundStatus: string | null;
                        quantity: number | null;
                    }[];
                    readonly refundChannels: {
                        refundChannelName: string | null;
                        quantity: number | null;
                    }[];
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The buyer of a return was erased. Readers must remove their copies of the buyer.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "return.erased",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": "188600142000000000",
         *       "commandId": null,
         *       "data": {
         *         "customerOrderId": "5281956426648"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReturnErased: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "return.erased";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                customerOrderId: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A command was accepted, or an operator has retried it.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.pending",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "event": {
         *           "source": "/erp/wms",
         *           "id": "2026-000123"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandPending: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.pending";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The request of a command may be sent from now on.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.sending",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "sending"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandSending: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.sending";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The outcome of a command is unknown; the order is being read back.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.verifying",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "no answer within 30 s"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandVerifying: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.verifying";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An operator must decide on a command.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.held",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "it was partly applied"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandHeld: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.held";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A command was applied. Final.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.confirmed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "every line shows the requested effect"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandConfirmed: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.confirmed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The marketplace, the rules or an operator refused a command; its units are available again. Final.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.rejected",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "the marketplace refused it: the order is cancelled"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandRejected: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.rejected";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The seller is in shadow mode: the request of a command is ready, and nothing is sent. Its units are reserved.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.predicted",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "shadow mode: it would have been sent now; nothing was sent"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandPredicted: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.predicted";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A command of a seller in shadow mode ended because the seller went live; its units are available again. Nothing was sent. Final.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "command.withdrawn",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": "6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11",
         *       "data": {
         *         "kind": "ship",
         *         "lines": [
         *           {
         *             "lineNumber": "1",
         *             "quantity": 2
         *           }
         *         ],
         *         "reason": "the seller went live"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCommandWithdrawn: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "command.withdrawn";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                kind: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Units of each line; empty for kinds without units. */
                readonly lines: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description With `pending`: the event that caused it. */
                event?: {
                    source: string;
                    id: string;
                };
                /** @description Applied units, if an operator decided by line. */
                readonly applied?: {
                    lineNumber: string;
                    quantity: number;
                }[];
                /** @description Why it is in this state; absent for a new command, and after its buyer was erased. */
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An accepted ERP event could not be executed: it is invalid, has waited too long, or an operator rejected it.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "event.rejected",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "source": "/erp/wms",
         *         "id": "2026-000124",
         *         "type": "erp.shipment.dispatched",
         *         "code": "invalid-event",
         *         "errors": [
         *           {
         *             "path": "parcels[0].lines[0].quantity",
         *             "message": "is 3, but 2 units can be shipped"
         *           }
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeEventRejected: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "event.rejected";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                source: string;
                id: string;
                type: string;
                code: string;
                readonly errors?: {
                    path: string;
                    message: string;
                }[];
                /** @description The operator who rejected it; absent if the daemon did. */
                actor?: string;
                reason?: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An alarm opened. It is reported within a minute. Its `count` may change later without a report.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "alarm.raised",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "alarmId": "17",
         *         "kind": "ship-by",
         *         "severity": "warning",
         *         "concerns": "warehouse",
         *         "title": "Orders must be shipped",
         *         "subject": "orders",
         *         "count": 12,
         *         "dueAt": "2026-03-02T07:00:00.000Z"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeAlarmRaised: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "alarm.raised";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Its id in `GET /v1/alarms`, which returns its message. */
                alarmId: string;
                /** @description A kind of docs/alarms.md. */
                kind: string;
                /** @enum {string} */
                severity: "critical" | "warning" | "notice";
                /** @description The responsible role: `warehouse`, `integrator` or `operator`. */
                concerns: string;
                title: string;
                /** @description Its subject within its kind; null if it is an id of an ERP. */
                subject: string | null;
                /** @description Number of affected records; null: only its subject. */
                count: number | null;
                /** @description The earliest deadline; null: there is none. */
                dueAt: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An operator silenced an open alarm until a time; it stays open.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "alarm.silenced",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "alarmId": "17",
         *         "kind": "ship-by",
         *         "severity": "warning",
         *         "concerns": "warehouse",
         *         "title": "Orders must be shipped",
         *         "subject": "orders",
         *         "count": 12,
         *         "dueAt": "2026-03-02T07:00:00.000Z",
         *         "until": "2026-03-02T12:00:00.000Z",
         *         "by": "kim"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeAlarmSilenced: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "alarm.silenced";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Its id in `GET /v1/alarms`, which returns its message. */
                alarmId: string;
                /** @description A kind of docs/alarms.md. */
                kind: string;
                /** @enum {string} */
                severity: "critical" | "warning" | "notice";
                /** @description The responsible role: `warehouse`, `integrator` or `operator`. */
                concerns: string;
                title: string;
                /** @description Its subject within its kind; null if it is an id of an ERP. */
                subject: string | null;
                /** @description Number of affected records; null: only its subject. */
                count: number | null;
                /** @description The earliest deadline; null: there is none. */
                dueAt: string | null;
                /** Format: date-time */
                until: string;
                /** @description The operator. */
                by: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The cause of an alarm ended, or an operator resolved it.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "alarm.resolved",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "alarmId": "17",
         *         "kind": "ship-by",
         *         "severity": "warning",
         *         "concerns": "warehouse",
         *         "title": "Orders must be shipped",
         *         "subject": "orders",
         *         "count": 12,
         *         "dueAt": "2026-03-02T07:00:00.000Z",
         *         "by": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeAlarmResolved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "alarm.resolved";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Its id in `GET /v1/alarms`, which returns its message. */
                alarmId: string;
                /** @description A kind of docs/alarms.md. */
                kind: string;
                /** @enum {string} */
                severity: "critical" | "warning" | "notice";
                /** @description The responsible role: `warehouse`, `integrator` or `operator`. */
                concerns: string;
                title: string;
                /** @description Its subject within its kind; null if it is an id of an ERP. */
                subject: string | null;
                /** @description Number of affected records; null: only its subject. */
                count: number | null;
                /** @description The earliest deadline; null: there is none. */
                dueAt: string | null;
                /** @description The operator; null: its cause ended. */
                by: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The marketplace refuses the credentials of a seller: it is stopped.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.stopped",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reason": "the marketplace refused the credentials three times"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerStopped: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.stopped";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                reason: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An operator paused a seller: its syncs and commands are stopped.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.paused",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "actor": "operator",
         *         "reason": "stock-taking"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerPaused: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.paused";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                actor: string;
                reason: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A stopped or paused seller runs again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.resumed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "by": "probe"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerResumed: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.resumed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /**
                 * @description What resumed it; `person`: an operator.
                 * @enum {string}
                 */
                by: "start" | "settings" | "probe" | "person";
                actor?: string;
                reason?: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An operator put a seller in shadow mode, or made it live.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.mode_changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "mode": "live",
         *         "actor": "Ada",
         *         "reason": "a week without differences"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerModeChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.mode_changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                mode: "live" | "shadow";
                actor: string;
                reason: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An operator removed a seller that was no longer configured.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "actor": "operator",
         *         "reason": "a mistyped id",
         *         "deleted": true
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                actor: string;
                reason: string | null;
                /** @description True: it had no data and is deleted; false: it is hidden, and its data is readable. */
                deleted: boolean;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A removed, hidden seller is in the settings again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.returned",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "by": "settings"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerReturned: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.returned";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /**
                 * @description What returned it: the start of a process, or reloaded settings.
                 * @enum {string}
                 */
                by: "start" | "settings";
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A seller's enrolment in a programme of the marketplace began or ended.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "seller.enrolment_changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "resource": "sales-channels",
         *         "enrolled": false
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSellerEnrolmentChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "seller.enrolment_changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                resource: string;
                enrolled: boolean;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Account-level shipping settings were read for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "shipping_settings.created",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "shippingPriority": "PRICE",
         *         "migrateFreeShippingOffers": false,
         *         "charges": [
         *           {
         *             "carrierName": "FedEx",
         *             "carrierService": "FedEx Ground",
         *             "shippingMethod": null,
         *             "regionCode": "C",
         *             "states": null,
         *             "addressType": "STREET",
         *             "rateModelType": "PER_SHIPMENT_PRICING",
         *             "unitOfMeasure": "LB",
         *             "shippingAndHandling": {
         *               "amount": "4.99",
         *               "currency": "USD"
         *             },
         *             "chargePerItem": null,
         *             "chargePerWeight": {
         *               "amount": "0.50",
         *               "currency": "USD"
         *             }
         *           }
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeShippingSettingsCreated: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "shipping_settings.created";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                shippingPriority: string | null;
                migrateFreeShippingOffers: boolean | null;
                charges: {
                    carrierName: string;
                    carrierService: string;
                    /** @default null */
                    shippingMethod: string | null;
                    regionCode: string;
                    states: string[] | null;
                    addressType: string;
                    rateModelType: string | null;
                    unitOfMeasure: string | null;
                    shippingAndHandling: {
                        amount: string;
                        currency: string;
                    } | null;
                    chargePerItem: {
                        amount: string;
                        currency: string;
                    } | null;
                    chargePerWeight: {
                        amount: string;
                        currency: string;
                    } | null;
                }[];
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Account-level shipping settings changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "shipping_settings.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "before": {
         *           "shippingPriority": "PRICE",
         *           "migrateFreeShippingOffers": false,
         *           "charges": [
         *             {
         *               "carrierName": "FedEx",
         *               "carrierService": "FedEx Ground",
         *               "shippingMethod": null,
         *               "regionCode": "C",
         *               "states": null,
         *               "addressType": "STREET",
         *               "rateModelType": "PER_SHIPMENT_PRICING",
         *               "unitOfMeasure": "LB",
         *               "shippingAndHandling": {
         *                 "amount": "4.99",
         *                 "currency": "USD"
         *               },
         *               "chargePerItem": null,
         *               "chargePerWeight": {
         *                 "amount": "0.50",
         *                 "currency": "USD"
         *               }
         *             }
         *           ]
         *         },
         *         "after": {
         *           "shippingPriority": "SPEED",
         *           "migrateFreeShippingOffers": false,
         *           "charges": [
         *             {
         *               "carrierName": "FedEx",
         *               "carrierService": "FedEx Ground",
         *               "shippingMethod": null,
         *               "regionCode": "C",
         *               "states": null,
         *               "addressType": "STREET",
         *               "rateModelType": "PER_SHIPMENT_PRICING",
         *               "unitOfMeasure": "LB",
         *               "shippingAndHandling": {
         *                 "amount": "4.99",
         *                 "currency": "USD"
         *               },
         *               "chargePerItem": null,
         *               "chargePerWeight": {
         *                 "amount": "0.50",
         *                 "currency": "USD"
         *               }
         *             }
         *           ]
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeShippingSettingsChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "shipping_settings.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                before: {
                    shippingPriority: string | null;
                    migrateFreeShippingOffers: boolean | null;
                    charges: {
                        carrierName: string;
                        carrierService: string;
                        /** @default null */
                        shippingMethod: string | null;
                        regionCode: string;
                        states: string[] | null;
                        addressType: string;
                        rateModelType: string | null;
                        unitOfMeasure: string | null;
                        shippingAndHandling: {
                            amount: string;
                            currency: string;
                        } | null;
                        chargePerItem: {
                            amount: string;
                            currency: string;
                        } | null;
                        chargePerWeight: {
                            amount: string;
                            currency: string;
                        } | null;
                    }[];
                };
                after: {
                    shippingPriority: string | null;
                    migrateFreeShippingOffers: boolean | null;
                    charges: {
                        carrierName: string;
                        carrierService: string;
                        /** @default null */
                        shippingMethod: string | null;
                        regionCode: string;
                        states: string[] | null;
                        addressType: string;
                        rateModelType: string | null;
                        unitOfMeasure: string | null;
                        shippingAndHandling: {
                            amount: string;
                            currency: string;
                        } | null;
                        chargePerItem: {
                            amount: string;
                            currency: string;
                        } | null;
                        chargePerWeight: {
                            amount: string;
                            currency: string;
                        } | null;
                    }[];
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The marketplace has no shipping settings.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "shipping_settings.missing",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {},
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeShippingSettingsMissing: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "shipping_settings.missing";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: Record<string, never> | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A watched campaign was read for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "campaign.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "campaignId": "9001",
         *         "status": "RUNNING",
         *         "name": "Spring",
         *         "startDate": "2026-03-01",
         *         "endDate": null,
         *         "dailyBudget": "100.00",
         *         "totalBudget": "3000.00",
         *         "targetRoas": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCampaignAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "campaign.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                campaignId: string;
                status: string;
                name: string | null;
                startDate: string | null;
                endDate: string | null;
                dailyBudget: string | null;
                totalBudget: string | null;
                targetRoas: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The name, dates, budgets or target of a campaign changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "campaign.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "campaignId": "9001",
         *         "before": {
         *           "name": "Spring",
         *           "startDate": "2026-03-01",
         *           "endDate": null,
         *           "dailyBudget": "100.00",
         *           "totalBudget": "3000.00",
         *           "targetRoas": null
         *         },
         *         "after": {
         *           "name": "Spring",
         *           "startDate": "2026-03-01",
         *           "endDate": null,
         *           "dailyBudget": "120.00",
         *           "totalBudget": "3000.00",
         *           "targetRoas": null
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCampaignChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "campaign.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                campaignId: string;
                before: {
                    name: string | null;
                    startDate: string | null;
                    endDate: string | null;
                    dailyBudget: string | null;
                    totalBudget: string | null;
                    targetRoas: string | null;
                };
                after: {
                    name: string | null;
                    startDate: string | null;
                    endDate: string | null;
                    dailyBudget: string | null;
                    totalBudget: string | null;
                    targetRoas: string | null;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The status of a campaign changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "campaign.status_changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "campaignId": "9001",
         *         "from": "SCHEDULED",
         *         "to": "RUNNING",
         *         "legal": true,
         *         "missed": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCampaignStatusChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "campaign.status_changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                campaignId: string;
                from: string;
                to: string;
                /** @description Whether the specification lists the transition. */
                legal: boolean;
                /** @description States that were skipped between the two, if listed transitions explain it. */
                missed: string[] | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The marketplace no longer has a watched campaign.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "campaign.missing",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "campaignId": "9001"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCampaignMissing: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "campaign.missing";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                campaignId: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A missing campaign exists again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "campaign.found",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "campaignId": "9001"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeCampaignFound: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "campaign.found";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                campaignId: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The advertising taxonomy of a seller was read completely for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "taxonomy.loaded",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "count": 1203,
         *         "parts": {
         *           "1": 24,
         *           "2": 187,
         *           "3": 992
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTaxonomyLoaded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "taxonomy.loaded";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Records of the first complete reading. They have no separate changes. */
                count: number;
                /** @description Records by part of the list: level, or kind of audience; empty for a list without parts. */
                parts: {
                    [key: string]: number;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A node of the taxonomy appeared, or appeared again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "taxonomy_node.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "level": 2,
         *         "path": [
         *           "Home",
         *           "Kitchen"
         *         ],
         *         "before": null,
         *         "after": {
         *           "itemCount": 812,
         *           "attributes": null
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTaxonomyNodeAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "taxonomy_node.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                level: number;
                readonly path: string[];
                before: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
                after: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A node of the taxonomy changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "taxonomy_node.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "level": 2,
         *         "path": [
         *           "Home",
         *           "Kitchen"
         *         ],
         *         "before": {
         *           "itemCount": 812,
         *           "attributes": null
         *         },
         *         "after": {
         *           "itemCount": 815,
         *           "attributes": null
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTaxonomyNodeChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "taxonomy_node.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                level: number;
                readonly path: string[];
                before: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
                after: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A node of the taxonomy is no longer listed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "taxonomy_node.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "level": 2,
         *         "path": [
         *           "Home",
         *           "Kitchen"
         *         ],
         *         "before": {
         *           "itemCount": 812,
         *           "attributes": null
         *         },
         *         "after": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTaxonomyNodeRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "taxonomy_node.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                level: number;
                readonly path: string[];
                before: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
                after: {
                    itemCount: number | null;
                    attributes: {
                        type: string | null;
                        readonly values: {
                            value: string;
                            count: number | null;
                        }[];
                    } | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The contextual targets, or the behavioral audiences, of a seller were read completely for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "target.loaded",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "tactic": "contextual",
         *         "count": 420,
         *         "parts": {}
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTargetLoaded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "target.loaded";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                tactic: "contextual" | "behavioral";
                /** @description Records of the first complete reading. They have no separate changes. */
                count: number;
                /** @description Records by part of the list: level, or kind of audience; empty for a list without parts. */
                parts: {
                    [key: string]: number;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A target for advertising appeared, or appeared again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "target.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "tactic": "contextual",
         *         "id": "4711",
         *         "before": null,
         *         "after": {
         *           "name": "Kitchen",
         *           "taxonPath": [
         *             "Home",
         *             "Kitchen"
         *           ],
         *           "isDisabled": false,
         *           "reach": [
         *             "TIER_3"
         *           ],
         *           "reachBands": [
         *             "MID"
         *           ]
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTargetAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "target.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                tactic: "contextual" | "behavioral";
                id: string;
                before: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
                after: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A target for advertising changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "target.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "tactic": "contextual",
         *         "id": "4711",
         *         "before": {
         *           "name": "Kitchen",
         *           "taxonPath": [
         *             "Home",
         *             "Kitchen"
         *           ],
         *           "isDisabled": false,
         *           "reach": [
         *             "TIER_3"
         *           ],
         *           "reachBands": [
         *             "MID"
         *           ]
         *         },
         *         "after": {
         *           "name": "Kitchen",
         *           "taxonPath": [
         *             "Home",
         *             "Kitchen"
         *           ],
         *           "isDisabled": true,
         *           "reach": [
         *             "TIER_3"
         *           ],
         *           "reachBands": [
         *             "MID"
         *           ]
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTargetChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "target.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                tactic: "contextual" | "behavioral";
                id: string;
                before: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
                after: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A target for advertising is no longer listed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "target.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "tactic": "contextual",
         *         "id": "4711",
         *         "before": {
         *           "name": "Kitchen",
         *           "taxonPath": [
         *             "Home",
         *             "Kitchen"
         *           ],
         *           "isDisabled": false,
         *           "reach": [
         *             "TIER_3"
         *           ],
         *           "reachBands": [
         *             "MID"
         *           ]
         *         },
         *         "after": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeTargetRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "target.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @enum {string} */
                tactic: "contextual" | "behavioral";
                id: string;
                before: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
                after: {
                    name: string | null;
                    taxonPath: string[] | null;
                    isDisabled: boolean | null;
                    /** @description Of contextual targets. */
                    readonly reach?: string[];
                    /** @description Of contextual targets. */
                    readonly reachBands?: string[];
                    /** @description Of behavioral audiences. */
                    audienceType?: string | null;
                    /** @description Of behavioral audiences. */
                    attribute?: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The sales channels of a seller were read completely for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "sales_channel.loaded",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "count": 3,
         *         "parts": {}
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSalesChannelLoaded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sales_channel.loaded";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Records of the first complete reading. They have no separate changes. */
                count: number;
                /** @description Records by part of the list: level, or kind of audience; empty for a list without parts. */
                parts: {
                    [key: string]: number;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A sales channel appeared, or appeared again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "sales_channel.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "orderChannelId": "1001",
         *         "before": null,
         *         "after": {
         *           "orderChannelName": "Web shop",
         *           "boxCatalogType": "PLAIN",
         *           "shippingMethods": "STANDARD, EXPEDITED",
         *           "active": true
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSalesChannelAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sales_channel.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                orderChannelId: string;
                before: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
                after: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A sales channel changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "sales_channel.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "orderChannelId": "1001",
         *         "before": {
         *           "orderChannelName": "Web shop",
         *           "boxCatalogType": "PLAIN",
         *           "shippingMethods": "STANDARD, EXPEDITED",
         *           "active": true
         *         },
         *         "after": {
         *           "orderChannelName": "Web shop",
         *           "boxCatalogType": "PLAIN",
         *           "shippingMethods": "STANDARD, EXPEDITED",
         *           "active": false
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSalesChannelChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sales_channel.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                orderChannelId: string;
                before: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
                after: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A sales channel is no longer listed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "sales_channel.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "orderChannelId": "1001",
         *         "before": {
         *           "orderChannelName": "Web shop",
         *           "boxCatalogType": "PLAIN",
         *           "shippingMethods": "STANDARD, EXPEDITED",
         *           "active": true
         *         },
         *         "after": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSalesChannelRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "sales_channel.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                orderChannelId: string;
                before: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
                after: {
                    orderChannelName: string | null;
                    boxCatalogType: string | null;
                    shippingMethods: string | null;
                    active: boolean | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A row of a settlement report was stored.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_line.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reportDate": "2026-03-10",
         *         "row": 17,
         *         "before": null,
         *         "after": {
         *           "transactionType": "Sale",
         *           "amountType": "Product Price",
         *           "amount": "13.99",
         *           "totalPayable": "11.89",
         *           "currency": "USD",
         *           "purchaseOrderId": "1796277083022"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementLineAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_line.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description `YYYY-MM-DD`. */
                reportDate: string;
                row: number;
                before: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
                after: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A row of a settlement report differs from the stored one.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_line.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reportDate": "2026-03-10",
         *         "row": 17,
         *         "before": {
         *           "transactionType": "Sale",
         *           "amountType": "Product Price",
         *           "amount": "13.99",
         *           "totalPayable": "11.89",
         *           "currency": "USD",
         *           "purchaseOrderId": "1796277083022"
         *         },
         *         "after": {
         *           "transactionType": "Sale",
         *           "amountType": "Product Price",
         *           "amount": "13.99",
         *           "totalPayable": "11.90",
         *           "currency": "USD",
         *           "purchaseOrderId": "1796277083022"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementLineChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_line.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description `YYYY-MM-DD`. */
                reportDate: string;
                row: number;
                before: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
                after: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A settlement report no longer has a row.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_line.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reportDate": "2026-03-10",
         *         "row": 17,
         *         "before": {
         *           "transactionType": "Sale",
         *           "amountType": "Product Price",
         *           "amount": "13.99",
         *           "totalPayable": "11.89",
         *           "currency": "USD",
         *           "purchaseOrderId": "1796277083022"
         *         },
         *         "after": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementLineRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_line.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description `YYYY-MM-DD`. */
                reportDate: string;
                row: number;
                before: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
                after: {
                    transactionType: string | null;
                    amountType: string | null;
                    amount: string | null;
                    totalPayable: string | null;
                    currency: string | null;
                    purchaseOrderId: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Settlement reports have paid an order line otherwise than it is due, or moved money under an unknown name.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_difference.found",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": "1",
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "5",
         *         "kind": "paid-less",
         *         "sku": "MUG-BLUE",
         *         "expected": "13.99",
         *         "paid": "12.49",
         *         "difference": "-1.50",
         *         "currency": "USD",
         *         "lineKeys": [
         *           "2026-03-10/17"
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementDifferenceFound: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_difference.found";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                /** @enum {string} */
                kind: "paid-less" | "paid-more" | "paid-twice" | "never-paid" | "refund-without-return" | "commission-off-rate" | "unknown-fee";
                sku: string | null;
                /** @description What reports should have paid. */
                expected: string;
                /** @description What they have paid. */
                paid: string;
                /** @description Paid less expected. */
                difference: string;
                currency: string | null;
                /** @description The rows of `warehouse.settlement_lines` that it comes from. */
                readonly lineKeys: string[];
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The amounts or rows of an open difference changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_difference.changed",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": "1",
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "5",
         *         "kind": "paid-less",
         *         "sku": "MUG-BLUE",
         *         "expected": "13.99",
         *         "paid": "12.99",
         *         "difference": "-1.00",
         *         "currency": "USD",
         *         "lineKeys": [
         *           "2026-03-10/17"
         *         ]
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementDifferenceChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_difference.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                /** @enum {string} */
                kind: "paid-less" | "paid-more" | "paid-twice" | "never-paid" | "refund-without-return" | "commission-off-rate" | "unknown-fee";
                sku: string | null;
                /** @description What reports should have paid. */
                expected: string;
                /** @description What they have paid. */
                paid: string;
                /** @description Paid less expected. */
                difference: string;
                currency: string | null;
                /** @description The rows of `warehouse.settlement_lines` that it comes from. */
                readonly lineKeys: string[];
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Later reports or records explain a difference, or its order is no longer stored.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "settlement_difference.resolved",
         *       "purchaseOrderId": "1796277083022",
         *       "lineNumber": "1",
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "5",
         *         "kind": "paid-less",
         *         "sku": "MUG-BLUE",
         *         "resolution": "settled"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeSettlementDifferenceResolved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "settlement_difference.resolved";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                /** @enum {string} */
                kind: "paid-less" | "paid-more" | "paid-twice" | "never-paid" | "refund-without-return" | "commission-off-rate" | "unknown-fee";
                sku: string | null;
                /** @enum {string} */
                resolution: "settled" | "withdrawn";
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The stock on hand of a seller was read completely for the first time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock.loaded",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "count": 34,
         *         "parts": {}
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockLoaded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock.loaded";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                /** @description Records of the first complete reading. They have no separate changes. */
                count: number;
                /** @description Records by part of the list: level, or kind of audience; empty for a list without parts. */
                parts: {
                    [key: string]: number;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The list of the stock on hand has a SKU for the first time, or again.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock.added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": null,
         *         "after": {
         *           "availableUnits": 94,
         *           "reservedUnits": 2,
         *           "onHandUnits": 96,
         *           "inboundUnits": 40,
         *           "inReviewUnits": 0,
         *           "inMovementUnits": 0,
         *           "publishingStatus": "Published",
         *           "lifecycle": "Active",
         *           "stockStatus": "In-stock"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock.added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                before: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
                after: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Units or a status of the stock on hand of a SKU changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": {
         *           "availableUnits": 94,
         *           "reservedUnits": 2,
         *           "onHandUnits": 96,
         *           "inboundUnits": 40,
         *           "inReviewUnits": 0,
         *           "inMovementUnits": 0,
         *           "publishingStatus": "Published",
         *           "lifecycle": "Active",
         *           "stockStatus": "In-stock"
         *         },
         *         "after": {
         *           "availableUnits": 92,
         *           "reservedUnits": 2,
         *           "onHandUnits": 94,
         *           "inboundUnits": 40,
         *           "inReviewUnits": 0,
         *           "inMovementUnits": 0,
         *           "publishingStatus": "Published",
         *           "lifecycle": "Active",
         *           "stockStatus": "In-stock"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                before: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
                after: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The list of the stock on hand no longer has a SKU.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock.removed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": {
         *           "availableUnits": 94,
         *           "reservedUnits": 2,
         *           "onHandUnits": 96,
         *           "inboundUnits": 40,
         *           "inReviewUnits": 0,
         *           "inMovementUnits": 0,
         *           "publishingStatus": "Published",
         *           "lifecycle": "Active",
         *           "stockStatus": "In-stock"
         *         },
         *         "after": null
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockRemoved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock.removed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                before: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
                after: {
                    availableUnits: number;
                    reservedUnits: number | null;
                    onHandUnits: number | null;
                    inboundUnits: number | null;
                    inReviewUnits: number | null;
                    inMovementUnits: number | null;
                    publishingStatus: string | null;
                    lifecycle: string | null;
                    stockStatus: string | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The stock on hand of a SKU differs from the balance of its inventory log at the same time.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock_difference.found",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "3",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "countedUnits": 96,
         *         "balanceUnits": 98,
         *         "difference": -2,
         *         "asOf": "2026-03-02T10:00:00.000Z",
         *         "openingUnits": 101,
         *         "openingAt": "2026-03-02T08:00:00.000Z",
         *         "value": "27.98",
         *         "currency": "USD"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockDifferenceFound: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock_difference.found";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @description Units on hand, by the marketplace's list. */
                countedUnits: number;
                /** @description The opening units, and the movements of the inventory log since. */
                balanceUnits: number;
                /** @description countedUnits minus balanceUnits. */
                difference: number;
                /** Format: date-time */
                asOf: string;
                /** @description The ending of the newest monthly report before `asOf`. */
                openingUnits: number;
                /** Format: date-time */
                openingAt: string;
                value: string | null;
                currency: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The units of an open difference between stock and log changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock_difference.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "3",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "countedUnits": 97,
         *         "balanceUnits": 98,
         *         "difference": -1,
         *         "asOf": "2026-03-02T10:00:00.000Z",
         *         "openingUnits": 101,
         *         "openingAt": "2026-03-02T08:00:00.000Z",
         *         "value": "13.99",
         *         "currency": "USD"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockDifferenceChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock_difference.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @description Units on hand, by the marketplace's list. */
                countedUnits: number;
                /** @description The opening units, and the movements of the inventory log since. */
                balanceUnits: number;
                /** @description countedUnits minus balanceUnits. */
                difference: number;
                /** Format: date-time */
                asOf: string;
                /** @description The ending of the newest monthly report before `asOf`. */
                openingUnits: number;
                /** Format: date-time */
                openingAt: string;
                value: string | null;
                currency: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Stock and log agree again, or can no longer be compared.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "stock_difference.resolved",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "3",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "resolution": "agrees"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeStockDifferenceResolved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "stock_difference.resolved";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @enum {string} */
                resolution: "agrees" | "withdrawn";
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The recommended quantities of a SKU changed, began or ended.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "replenishment.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "before": {
         *           "suggestedQuantity": 40,
         *           "maxQuantity": 120
         *         },
         *         "after": {
         *           "suggestedQuantity": 60,
         *           "maxQuantity": 120
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReplenishmentChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "replenishment.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                /** @description Null: there was none. */
                before: {
                    suggestedQuantity: number | null;
                    maxQuantity: number | null;
                } | null;
                /** @description Null: there is none now. */
                after: {
                    suggestedQuantity: number | null;
                    maxQuantity: number | null;
                } | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description Entries of the inventory log of a SKU were stored.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_log.entries_added",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "count": 4,
         *         "netUnits": -7,
         *         "earliest": "2026-03-02T10:00:00.000Z",
         *         "latest": "2026-03-02T11:30:00.000Z"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryLogEntriesAdded: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_log.entries_added";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                gtin: string | null;
                count: number;
                netUnits: number;
                /** Format: date-time */
                earliest: string;
                /** Format: date-time */
                latest: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An entry of the inventory log differs from the stored one.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_log.entry_changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "entryId": "77001",
         *         "before": {
         *           "changedUnits": -2,
         *           "transactionTime": "2026-03-02T10:00:00.000Z",
         *           "transactionLocation": "SELLABLE",
         *           "transactionReasonCode": "310",
         *           "transactionType": "SALE"
         *         },
         *         "after": {
         *           "changedUnits": -3,
         *           "transactionTime": "2026-03-02T10:00:00.000Z",
         *           "transactionLocation": "SELLABLE",
         *           "transactionReasonCode": "310",
         *           "transactionType": "SALE"
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryLogEntryChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_log.entry_changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                gtin: string | null;
                entryId: string;
                before: {
                    changedUnits: number;
                    /** Format: date-time */
                    transactionTime: string;
                    transactionLocation: string | null;
                    transactionReasonCode: string | null;
                    transactionType: string | null;
                };
                after: {
                    changedUnits: number;
                    /** Format: date-time */
                    transactionTime: string;
                    transactionLocation: string | null;
                    transactionReasonCode: string | null;
                    transactionType: string | null;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The inventory log no longer has an entry.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_log.entry_gone",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "entryId": "77001",
         *         "transactionTime": "2026-03-02T10:00:00.000Z",
         *         "changedUnits": -2
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryLogEntryGone: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_log.entry_gone";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                entryId: string;
                /** Format: date-time */
                transactionTime: string;
                changedUnits: number;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The inventory log has an unknown reason; define its kind in `LOG_REASONS`.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_log.unknown_reason",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reason": "999: Recount",
         *         "countsAs": "other"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryLogUnknownReason: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_log.unknown_reason";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                reason: string;
                /** @enum {string} */
                countsAs: "sold" | "returned" | "lost" | "found" | "damaged" | "other";
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description An inventory report was imported.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "reconciliation_report.imported",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "reportId": "31",
         *         "month": "2026-02",
         *         "generatedAt": "2026-03-02T06:00:00.000Z",
         *         "coveredUntil": "2026-03-01T08:00:00.000Z",
         *         "lines": 1522,
         *         "rows": 1520,
         *         "quarantined": 0,
         *         "skipped": 2,
         *         "changed": 1520,
         *         "gone": 0
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReconciliationReportImported: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reconciliation_report.imported";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                reportId: string;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
                /** Format: date-time */
                generatedAt: string;
                /** Format: date-time */
                coveredUntil: string;
                /** @description All lines of the file: rows and skipped lines. */
                lines?: number;
                rows: number;
                /** @description Unreadable rows. */
                quarantined?: number;
                /** @description Header, blank lines, totals, text, and continuation lines of rows. */
                skipped?: number;
                changed: number;
                gone: number;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The numbers of a SKU in the report of a past month changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "reconciliation_row.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "month": "2026-02",
         *         "before": {
         *           "beginningQuantity": 100,
         *           "endingQuantity": 97,
         *           "sold": 3,
         *           "returned": 0,
         *           "lost": 0,
         *           "found": 0,
         *           "damaged": 0,
         *           "otherAdjustments": 0
         *         },
         *         "after": {
         *           "beginningQuantity": 100,
         *           "endingQuantity": 96,
         *           "sold": 3,
         *           "returned": 0,
         *           "lost": 1,
         *           "found": 0,
         *           "damaged": 0,
         *           "otherAdjustments": 0
         *         }
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReconciliationRowChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reconciliation_row.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                gtin: string | null;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
                /** @description Null: the row did not exist. */
                before: {
                    beginningQuantity: number;
                    endingQuantity: number;
                    sold: number;
                    returned: number;
                    lost: number;
                    found: number;
                    damaged: number;
                    otherAdjustments: number;
                } | null;
                after: {
                    beginningQuantity: number;
                    endingQuantity: number;
                    sold: number;
                    returned: number;
                    lost: number;
                    found: number;
                    damaged: number;
                    otherAdjustments: number;
                };
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The report of a month no longer has the row of a SKU.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "reconciliation_row.gone",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "month": "2026-02"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeReconciliationRowGone: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reconciliation_row.gone";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                sku: string;
                gtin: string | null;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A difference between an inventory report and the expected units was found.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_discrepancy.found",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "12",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "month": "2026-02",
         *         "kind": "lost",
         *         "reportUnits": 1,
         *         "expectedUnits": 3,
         *         "difference": -2,
         *         "logVerdict": "extra",
         *         "value": "27.98",
         *         "currency": "USD"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryDiscrepancyFound: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_discrepancy.found";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
                /** @enum {string} */
                kind: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
                reportUnits: number;
                expectedUnits: number;
                difference: number;
                logVerdict: ("missing" | "extra") | null;
                value: string | null;
                currency: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description The numbers of an open difference changed.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_discrepancy.changed",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "12",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "month": "2026-02",
         *         "kind": "lost",
         *         "reportUnits": 2,
         *         "expectedUnits": 3,
         *         "difference": -1,
         *         "logVerdict": "extra",
         *         "value": "13.99",
         *         "currency": "USD"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryDiscrepancyChanged: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_discrepancy.changed";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
                /** @enum {string} */
                kind: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
                reportUnits: number;
                expectedUnits: number;
                difference: number;
                logVerdict: ("missing" | "extra") | null;
                value: string | null;
                currency: string | null;
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /**
         * @description A difference no longer exists.
         * @example {
         *       "seq": "4711",
         *       "sellerId": "seller-1",
         *       "type": "inventory_discrepancy.resolved",
         *       "purchaseOrderId": null,
         *       "lineNumber": null,
         *       "returnOrderId": null,
         *       "commandId": null,
         *       "data": {
         *         "id": "12",
         *         "sku": "MUG-BLUE",
         *         "gtin": "00012345678905",
         *         "month": "2026-02",
         *         "kind": "lost",
         *         "resolution": "agrees"
         *       },
         *       "occurredAt": "2026-03-01T09:30:00.000Z"
         *     }
         */
        ChangeInventoryDiscrepancyResolved: {
            seq: string;
            sellerId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "inventory_discrepancy.resolved";
            purchaseOrderId: string | null;
            lineNumber: string | null;
            returnOrderId: string | null;
            commandId: string | null;
            data: {
                id: string;
                sku: string;
                gtin: string | null;
                /** @description `YYYY-MM`, by the calendar of the marketplace. */
                month: string;
                /** @enum {string} */
                kind: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
                /** @enum {string} */
                resolution: "agrees" | "withdrawn";
            } | components["schemas"]["ErasedData"];
            /** Format: date-time */
            occurredAt: string;
        };
        /** @description Replaces data from which an erased buyer had to be removed. */
        ErasedData: {
            /** @constant */
            erased: true;
        };
        /**
         * @description The ERP accepts the order: acknowledge it.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.order.accepted-1",
         *       "source": "/openapi-example",
         *       "type": "erp.order.accepted",
         *       "data": {
         *         "purchaseOrderId": "PURCHASE-ORDER-ID"
         *       }
         *     }
         */
        EventErpOrderAccepted: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.order.accepted";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                purchaseOrderId: string | number;
            };
        };
        /**
         * @description Parcels have left: ship their units.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.shipment.dispatched-1",
         *       "source": "/openapi-example",
         *       "type": "erp.shipment.dispatched",
         *       "data": {
         *         "purchaseOrderId": "PURCHASE-ORDER-ID",
         *         "parcels": [
         *           {
         *             "carrier": "UPS",
         *             "trackingNumber": "1Z999AA10123456784",
         *             "shippedAt": "2026-03-01T09:30:00Z",
         *             "lines": [
         *               {
         *                 "sku": "MUG-BLUE",
         *                 "quantity": 2
         *               }
         *             ]
         *           }
         *         ]
         *       }
         *     }
         */
        EventErpShipmentDispatched: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.shipment.dispatched";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                purchaseOrderId: string | number;
                parcels: {
                    carrier: string;
                    trackingNumber: string;
                    trackingUrl?: string | null;
                    method?: string | null;
                    /** Format: date-time */
                    shippedAt: string;
                    lines: {
                        lineNumber?: (string | number) | null;
                        sku?: string | null;
                        quantity: number;
                        intentToCancelOverride?: boolean | null;
                    }[];
                }[];
            };
        };
        /**
         * @description Units cannot be delivered: cancel them.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.lines.unfulfillable-1",
         *       "source": "/openapi-example",
         *       "type": "erp.lines.unfulfillable",
         *       "data": {
         *         "purchaseOrderId": "PURCHASE-ORDER-ID",
         *         "lines": [
         *           {
         *             "sku": "MUG-BLUE",
         *             "quantity": 2,
         *             "reason": "SELLER_CANCEL_OUT_OF_STOCK"
         *           }
         *         ]
         *       }
         *     }
         */
        EventErpLinesUnfulfillable: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.lines.unfulfillable";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                purchaseOrderId: string | number;
                lines: {
                    lineNumber?: (string | number) | null;
                    sku?: string | null;
                    quantity: number;
                    reason: string;
                }[];
            };
        };
        /**
         * @description The buyer gets money back: refund it.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.credit.issued-1",
         *       "source": "/openapi-example",
         *       "type": "erp.credit.issued",
         *       "data": {
         *         "purchaseOrderId": "PURCHASE-ORDER-ID",
         *         "lines": [
         *           {
         *             "sku": "MUG-BLUE",
         *             "quantity": 2,
         *             "reason": "DamagedItem"
         *           }
         *         ]
         *       }
         *     }
         */
        EventErpCreditIssued: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.credit.issued";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                purchaseOrderId: string | number;
                lines: {
                    lineNumber?: (string | number) | null;
                    sku?: string | null;
                    quantity: number;
                    reason: string;
                    amount?: (string | number) | null;
                    currency?: string | null;
                }[];
            };
        };
        /**
         * @description The tracking number of a parcel was wrong: replace it.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.shipment.corrected-1",
         *       "source": "/openapi-example",
         *       "type": "erp.shipment.corrected",
         *       "data": {
         *         "purchaseOrderId": "PURCHASE-ORDER-ID",
         *         "trackingNumber": "1Z999AA10123456784",
         *         "replacement": {
         *           "carrier": "UPS",
         *           "trackingNumber": "1Z999AA10123456795"
         *         }
         *       }
         *     }
         */
        EventErpShipmentCorrected: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.shipment.corrected";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                purchaseOrderId: string | number;
                trackingNumber: string;
                replacement: {
                    carrier: string;
                    trackingNumber: string;
                    trackingUrl?: string | null;
                };
            };
        };
        /**
         * @description Returned units have been checked: refund them through their return.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.return.refunded-1",
         *       "source": "/openapi-example",
         *       "type": "erp.return.refunded",
         *       "data": {
         *         "returnOrderId": "RETURN-ORDER-ID",
         *         "lines": [
         *           {
         *             "sku": "MUG-BLUE",
         *             "quantity": 2
         *           }
         *         ]
         *       }
         *     }
         */
        EventErpReturnRefunded: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.return.refunded";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                returnOrderId: string | number;
                lines: {
                    returnLineNumber?: (number | string) | null;
                    sku?: string | null;
                    quantity: number;
                    reason?: string | null;
                    amount?: (string | number) | null;
                    currency?: string | null;
                }[];
            };
        };
        /**
         * @description The seller's account-level shipping settings: create them.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.shipping-settings.defined-1",
         *       "source": "/openapi-example",
         *       "type": "erp.shipping-settings.defined",
         *       "data": {
         *         "simplifiedShippingSettings": {
         *           "accountConfigs": {
         *             "shippingPriority": "PRICE",
         *             "carrierConfigs": []
         *           }
         *         }
         *       }
         *     }
         */
        EventErpShippingSettingsDefined: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.shipping-settings.defined";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                simplifiedShippingSettings: {
                    accountConfigs: {
                        shippingPriority?: string | null;
                        migrateFreeShippingOffers?: boolean;
                        carrierConfigs: ({
                            shippingMethod?: string | null;
                            carriers: ({
                                carrierName: string;
                                carrierService: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                            configurations: ({
                                regions: ({
                                    regionCode: string;
                                    regionName: string;
                                    states?: ({
                                        stateCode: string;
                                    } & {
                                        [key: string]: unknown;
                                    })[];
                                    subRegions?: ({
                                        states?: ({
                                            stateCode: string;
                                        } & {
                                            [key: string]: unknown;
                                        })[];
                                    } & {
                                        [key: string]: unknown;
                                    })[];
                                } & {
                                    [key: string]: unknown;
                                })[];
                                addressTypes: string[];
                                shippingCharge: {
                                    rateModelType: string;
                                    perShippingCharge: {
                                        unitOfMeasure: string;
                                        shippingAndHandling: {
                                            amount: string | number;
                                            currency: string;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                        chargePerItem?: ({
                                            amount: string | number;
                                            currency: string;
                                        } & {
                                            [key: string]: unknown;
                                        }) | null;
                                        chargePerWeight?: ({
                                            amount: string | number;
                                            currency: string;
                                        } & {
                                            [key: string]: unknown;
                                        }) | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            })[];
                        } & {
                            [key: string]: unknown;
                        })[];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        /**
         * @description Units were sent to a fulfillment center: compare them with its receipts.
         * @example {
         *       "specversion": "1.0",
         *       "id": "erp.inbound.shipped-1",
         *       "source": "/openapi-example",
         *       "type": "erp.inbound.shipped",
         *       "data": {
         *         "shipmentId": "4711000WFA",
         *         "shippedAt": "2026-03-01T09:30:00Z",
         *         "lines": [
         *           {
         *             "sku": "KETTLE-RED",
         *             "quantity": 40
         *           }
         *         ]
         *       }
         *     }
         */
        EventErpInboundShipped: {
            /** @constant */
            specversion: "1.0";
            /** @description Unique within its source. */
            id: string;
            /** @description URI reference of the sender. */
            source: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "erp.inbound.shipped";
            /** Format: date-time */
            time?: string;
            subject?: string;
            /** @example application/json */
            datacontenttype?: string;
            data: {
                sellerId?: string | null;
                shipmentId: string | number;
                /** Format: date-time */
                shippedAt: string;
                expectedBy?: string | null;
                deliveredAt?: string | null;
                lines: {
                    sku: string;
                    quantity: number;
                }[];
            };
        };
        /** @description A CloudEvent 1.0 of the ERP. */
        ErpEvent: components["schemas"]["EventErpOrderAccepted"] | components["schemas"]["EventErpShipmentDispatched"] | components["schemas"]["EventErpLinesUnfulfillable"] | components["schemas"]["EventErpCreditIssued"] | components["schemas"]["EventErpShipmentCorrected"] | components["schemas"]["EventErpReturnRefunded"] | components["schemas"]["EventErpShippingSettingsDefined"] | components["schemas"]["EventErpInboundShipped"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listEvents: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`. */
                state?: "received" | "accepted" | "rejected";
                /** @description Of this type, such as `erp.shipment.dispatched`. */
                type?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description About this purchase order, or about a return of it. */
                purchaseOrderId?: string;
                /** @description Of this source. */
                source?: string;
                /** @description With this id. */
                id?: string;
                /** @description Received at or after this date, or date and time. */
                receivedFrom?: string;
                /** @description Received before this date, or date and time. */
                receivedTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ListedEvent"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createEvent: {
        parameters: {
            query?: {
                /** @description true: reports what the events would do now; nothing is stored, and the marketplace is not called. */
                dryRun?: boolean | ("true" | "false");
            };
            header?: {
                /** @description Binary mode: version of CloudEvents, `1.0`. */
                "ce-specversion"?: string;
                /** @description Binary mode: id of the event, unique within its source, such as `dispatch-4711`. */
                "ce-id"?: string;
                /** @description Binary mode: URI reference of the sender, such as `/erp`. */
                "ce-source"?: string;
                /** @description Binary mode: type of the event, such as `erp.order.accepted`. */
                "ce-type"?: string;
                /** @description Binary mode: when it happened, RFC 3339, such as `2026-03-01T09:30:00Z`. */
                "ce-time"?: string;
                /** @description Standard Webhooks: id of the message. Required when `EVENTS_SECRET` is set. */
                "webhook-id"?: string;
                /** @description Standard Webhooks: seconds since 1970. Required when `EVENTS_SECRET` is set. */
                "webhook-timestamp"?: string;
                /** @description Standard Webhooks: `v1,` and the signature in Base64. Required when `EVENTS_SECRET` is set. */
                "webhook-signature"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "specversion": "1.0",
                 *       "id": "erp.order.accepted-1",
                 *       "source": "/openapi-example",
                 *       "type": "erp.order.accepted",
                 *       "data": {
                 *         "purchaseOrderId": "PURCHASE-ORDER-ID"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CloudEventInput"] | components["schemas"]["CloudEventInput"][] | (components["schemas"]["OrderAcceptedInput"] | components["schemas"]["ShipmentDispatchedInput"] | components["schemas"]["LinesUnfulfillableInput"] | components["schemas"]["CreditIssuedInput"] | components["schemas"]["ShipmentCorrectedInput"] | components["schemas"]["ReturnRefundedInput"] | components["schemas"]["ShippingSettingsDefinedInput"] | components["schemas"]["InboundShippedInput"]);
                /**
                 * @example {
                 *       "specversion": "1.0",
                 *       "id": "erp.order.accepted-1",
                 *       "source": "/openapi-example",
                 *       "type": "erp.order.accepted",
                 *       "data": {
                 *         "purchaseOrderId": "PURCHASE-ORDER-ID"
                 *       }
                 *     }
                 */
                "application/cloudevents+json": components["schemas"]["ErpEvent"];
                /**
                 * @example [
                 *       {
                 *         "specversion": "1.0",
                 *         "id": "erp.order.accepted-1",
                 *         "source": "/openapi-example",
                 *         "type": "erp.order.accepted",
                 *         "data": {
                 *           "purchaseOrderId": "PURCHASE-ORDER-ID"
                 *         }
                 *       }
                 *     ]
                 */
                "application/cloudevents-batch+json": components["schemas"]["ErpEvent"][];
            };
        };
        responses: {
            /** @description With `dryRun=true`: the effect that each event would have now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["EventForecast"][];
                    };
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["EventReceipt"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description URL-encoded. */
                source: string;
                /** @description URL-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rejectEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description URL-encoded. */
                source: string;
                /** @description URL-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        source: string;
                        id: string;
                        /**
                         * @description received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`.
                         * @enum {string}
                         */
                        state: "received" | "accepted" | "rejected";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listProposals: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description open: not decided. */
                state?: "open" | "all";
                /** @description Of this seller. */
                sellerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Proposal"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createProposal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Type of the event: `erp.order.accepted`, `erp.shipment.dispatched`, `erp.lines.unfulfillable`, `erp.credit.issued`, `erp.shipment.corrected`, `erp.return.refunded`, `erp.shipping-settings.defined`, `erp.inbound.shipped`. */
                    type: string;
                    /** @description Data of the event, as for `POST /v1/events`; `sellerId` is required if there are several sellers. */
                    data: {
                        [key: string]: unknown;
                    };
                    /** @description Why, for the person who decides. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        sellerId: string;
                        type: string;
                        /** @description Data of the event. */
                        data: unknown;
                        /** @description Why the program proposes it. */
                        reason: string;
                        /**
                         * @description approving: approved, and its event is being posted; if that was interrupted, approve it again.
                         * @enum {string}
                         */
                        state: "open" | "approving" | "approved" | "rejected";
                        proposedBy: string;
                        /** Format: date-time */
                        proposedAt: string;
                        decidedBy: string | null;
                        decidedAt: string | null;
                        decisionReason: string | null;
                        forecast: components["schemas"]["EventForecast"];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        sellerId: string;
                        type: string;
                        /** @description Data of the event. */
                        data: unknown;
                        /** @description Why the program proposes it. */
                        reason: string;
                        /**
                         * @description approving: approved, and its event is being posted; if that was interrupted, approve it again.
                         * @enum {string}
                         */
                        state: "open" | "approving" | "approved" | "rejected";
                        proposedBy: string;
                        /** Format: date-time */
                        proposedAt: string;
                        decidedBy: string | null;
                        decidedAt: string | null;
                        decisionReason: string | null;
                        /** @description null: it is decided. */
                        forecast: components["schemas"]["EventForecast"] | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approveProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    reason?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "approved";
                        readonly commands: string[];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rejectProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "rejected";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCommands: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                state?: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
                kind?: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Beginning of their order's purchase order id, customer order id, SKU or tracking number, in upper or lower case. */
                q?: string;
                /** @description On this purchase order. */
                purchaseOrderId?: string;
                /** @description They concern units of a line with this SKU. Acknowledgements concern whole orders and no units. */
                sku?: string;
                /** @description Shipments with a parcel of this tracking number, and corrections from it or to it. */
                trackingNumber?: string;
                /** @description Of the event with this id. */
                eventId?: string;
                /** @description Of events of this source. */
                eventSource?: string;
                /** @description Accepted at or after this date, or date and time. */
                createdFrom?: string;
                /** @description Accepted before this date, or date and time. */
                createdTo?: string;
                /** @description Confirmed or rejected at or after this date, or date and time. */
                settledFrom?: string;
                /** @description Confirmed or rejected before this date, or date and time. */
                settledTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Command"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Command"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    confirmCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rejectCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    decideCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                    lines: {
                        lineNumber: string;
                        /** @enum {string} */
                        verdict: "applied" | "not-applied" | "send-again";
                        /** @description Default: all units of the line that are not decided yet. */
                        quantity?: number;
                        /** @description For shipments: the parcel, if the line is distributed over several. */
                        trackingNumber?: string;
                        /** @description For cancellations and refunds: the entry, if the line has several. */
                        reason?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "pending" | "sending" | "verifying" | "held" | "confirmed" | "rejected" | "predicted" | "withdrawn";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Beginning of a purchase order id, customer order id, SKU or tracking number, regardless of case, spaces and hyphens. Exact matches are listed first and completely; of the others, up to 1,000; then those whose purchase order id or customer order id ends with at least four characters. */
                q?: string;
                /** @description With this id. */
                purchaseOrderId?: string;
                /** @description Of this customer order. */
                customerOrderId?: string;
                /** @description At least one line has this SKU. */
                sku?: string;
                /** @description At least one parcel has this tracking number, or had it before a refund or a correction. */
                trackingNumber?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Shipped by this kind of node, in the marketplace's spelling. */
                shipNodeType?: string;
                /** @description Some units are neither shipped nor cancelled. */
                open?: boolean | ("true" | "false");
                /** @description `shipped`: nothing is open, and some units were shipped; `cancelled`: nothing is open, and no unit was shipped; `refunded`: some units were refunded. Also set a period: the orders are read one by one. */
                outcome?: "shipped" | "cancelled" | "refunded";
                /** @description true: open, shipped by the seller, and past the ship-by time. */
                late?: boolean | ("true" | "false");
                /** @description true: open, shipped by the seller, and to be shipped within 24 hours. */
                shipSoon?: boolean | ("true" | "false");
                /** @description true: open, and cancelled by the marketplace within 24 hours unless it is shipped. */
                autoCancelSoon?: boolean | ("true" | "false");
                /** @description true: open, shipped by the seller, and past the acknowledgement deadline. */
                acknowledgeOverdue?: boolean | ("true" | "false");
                /** @description true: open, shipped by the seller, and to be acknowledged within an hour. */
                acknowledgeSoon?: boolean | ("true" | "false");
                /** @description true: open, shipped by the seller, and still known to the marketplace; false: the other open ones. */
                fulfilledBySeller?: boolean | ("true" | "false");
                /** @description true: open, shipped by the seller, and some units are not acknowledged; false: the other open ones. */
                unacknowledged?: boolean | ("true" | "false");
                /** @description City of the buyer's address, in upper or lower case. */
                city?: string;
                /** @description Ordered at or after this date, or date and time. */
                createdFrom?: string;
                /** @description Ordered before this date, or date and time. */
                createdTo?: string;
                /** @description To be shipped at or after this date, or date and time. */
                shipByFrom?: string;
                /** @description To be shipped before this date, or date and time. */
                shipByTo?: string;
                /** @description `-orderDate`: newest first; `shipBy`: by the estimated ship date; `acknowledgeBy`: by the acknowledgement deadline, so oldest first. Default: by seller and purchase order id. */
                sort?: "-orderDate" | "shipBy" | "acknowledgeBy";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["OrderSummary"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOrder: {
        parameters: {
            query?: {
                /** @description Required when several sellers have an order with this id. */
                sellerId?: string;
                /** @description As it was known at this time. */
                at?: string;
                /** @description true: without the buyer's data. Sessions never get it here. */
                masked?: boolean | ("true" | "false");
            };
            header?: never;
            path: {
                purchaseOrderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `changes-gone` (The next changes have been removed), `version-not-kept` (The version is not kept) */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revealOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                purchaseOrderId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Required when several sellers have an order with this id. */
                    sellerId?: string;
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Buyer"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Count in `orders.dueBy` the orders to be shipped before this time. */
                dueBy?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOrderStates: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderStates"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPickList: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of orders that must be shipped before this time. */
                shipBefore?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["PickedSku"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getThroughput: {
        parameters: {
            query?: {
                /** @description Number of hours, including the current one. */
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["HourOfWork"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSearch: {
        parameters: {
            query: {
                /** @description Beginning of an id, number or SKU. */
                q: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Maximum number of things of each kind. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["Found"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description Sequence number of the last change that was read, or `now`: only future changes; default: from the oldest that is kept. */
                after?: "now" | string;
                /** @description The same as `after`. */
                cursor?: string;
                /** @description Types of changes, separated by commas; `order.*` means all that begin with `order.`. */
                types?: string;
                sellerId?: string;
                purchaseOrderId?: string;
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description Longest wait in seconds, up to 60. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Changes; `nextCursor` is the position to continue with, even when there are none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["Change"][];
                        nextCursor: string;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `changes-gone` (The next changes have been removed), `version-not-kept` (The version is not kept) */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` (Temporarily unavailable) */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                state?: "active" | "paused" | "disabled";
                /** @description Endpoints that receive the changes of this seller: its own, and those for all sellers. */
                sellerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Webhook"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description https://…; without user name, password and fragment. */
                    url: string;
                    /** @description Types of changes, as a list or separated by commas; `order.*` for a group; empty or `*`: all. */
                    types?: string[] | string;
                    /** @default null */
                    sellerId?: string | null;
                    /** @description Begin after this change; default: with the next change. */
                    after?: (string | number) | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `changes-gone` (The next changes have been removed), `version-not-kept` (The version is not kept) */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {boolean} */
                        removed: true;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    url?: string;
                    /** @description Types of changes, as a list or separated by commas; `order.*` for a group; empty or `*`: all. */
                    types?: string[] | string;
                    sellerId?: string | null;
                    /**
                     * @description paused: nothing is sent, and changes are kept until it is resumed; disabled: nothing is sent, and undelivered changes are removed after RETAIN_CHANGES.
                     * @enum {string}
                     */
                    state?: "active" | "paused" | "disabled";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How long messages are also signed with the old secret; default: a day.
                     * @default 86400
                     */
                    overlapSeconds?: number;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @description Standard Webhooks secret. Shown in this answer only. */
                        secret: string;
                        /**
                         * Format: date-time
                         * @description Until when messages are also signed with the previous secrets.
                         */
                        oldSecretUntil: string;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveryId: string;
                        delivered: boolean;
                        httpStatus: number | null;
                        error: string | null;
                        durationMs: number;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    after: string | number;
                    before: string | number;
                } | {
                    /** @description Ids of deliveries. */
                    ids: (string | number)[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Messages that are sent again. */
                        redelivered: number;
                        /** @description Ids that cannot be sent again: unknown, a test, or its change was removed. */
                        readonly missing: string[];
                        nextAfter: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `changes-gone` (The next changes have been removed), `version-not-kept` (The version is not kept) */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                status?: "pending" | "delivered" | "failed";
                changeSequence?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WebhookDelivery"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSyncs: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this resource, such as `orders`. */
                resource?: string;
                /** @description Whether a process runs it now. */
                running?: boolean | ("true" | "false");
                /** @description Whether its last run failed. */
                failing?: boolean | ("true" | "false");
                /** @description Whether its last success is too long ago. */
                behind?: boolean | ("true" | "false");
                /** @description Whether it has never been read completely; backfills do not count. */
                unread?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Sync"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLags: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["ResourceLag"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getResources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["Resource"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSyncRuns: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this stream of the resource. */
                stream?: string;
                /** @description Whether it ended with an error. */
                failed?: boolean | ("true" | "false");
                /** @description Started at or after this date, or date and time. */
                startedFrom?: string;
                /** @description Started before this date, or date and time. */
                startedTo?: string;
            };
            header?: never;
            path: {
                resource: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SyncRun"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    runSync: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                resource: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    sellerId?: string;
                    from?: string;
                    to?: string;
                } | null;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resource: string;
                        readonly jobs: string[];
                        /** @description Of a backfill: the time that is read; `clamped` if it is shorter than requested. */
                        range: {
                            /** Format: date-time */
                            from: string;
                            /** Format: date-time */
                            to: string;
                            clamped: boolean;
                        } | null;
                        /** @description Sellers that are stopped or paused: nothing runs for them. */
                        readonly resting: string[];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getBudget: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this operation. */
                operation?: string;
                /** @description Number of results. Default: all. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["Budget"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getBudgetOperations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["OperationBudget"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSellers: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description In this state. */
                state?: "active" | "stopped" | "paused";
                /** @description In this mode. */
                mode?: "live" | "shadow";
                /** @description This seller. */
                sellerId?: string;
                /** @description Whether it was removed. Default: sellers that were not removed, and a removed one if `sellerId` names it. */
                removed?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ListedSeller"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reloadSellers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReloadedSellers"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` (Temporarily unavailable) */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseSeller: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Seller"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeSeller: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    reason?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Seller"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeSeller: {
        parameters: {
            query?: {
                /** @description Why. */
                reason?: string;
                /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                actor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedSeller"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listShadow: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Orders placed, or with a prediction, at or after this date, or date and time. */
                from?: string;
                /** @description This order. */
                purchaseOrderId?: string;
                /** @description difference: the other system did something else than was predicted; missing: it did not do within 24 hours what was predicted; unpredicted: it did something that no event predicted; pending: it has not done yet what was predicted; agreement: it did what was predicted. The first one that is true of a part of the order. */
                verdict?: "difference" | "missing" | "unpredicted" | "pending" | "agreement";
                /** @description With a prediction of this kind, or with units that were processed in this way without an event. */
                kind?: "acknowledge" | "ship" | "cancel" | "refund" | "refund-return" | "correct-shipment" | "create-shipping-settings";
                /** @description With a difference of this kind. */
                difference?: "units" | "twice" | "cancelled" | "shipped" | "tracking" | "carrier" | "money";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ShadowOrder"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getShadowCounts: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Orders placed, or with a prediction, at or after this date, or date and time. */
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShadowCounts"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    goLiveSeller: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                    /** @description Go live although orders differ from their predictions, none has been compared, or events wait. */
                    force?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SellerMode"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    goShadowSeller: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SellerMode"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getForecast: {
        parameters: {
            query?: {
                /** @description Of this seller; of all by default. */
                sellerId?: string;
                /** @description Hours of the forecast. */
                hours?: number;
                /** @description Also forecast this open command: its position and time. */
                commandId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forecast"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listQuarantine: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                state?: "open" | "replayed" | "superseded" | "dismissed" | "all";
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this resource, such as `orders`. */
                resource?: string;
                /** @description Of the record with this key, such as a purchase order id. */
                recordKey?: string;
                /** @description true: skipped parts of lists; false: records. */
                skipped?: boolean | ("true" | "false");
                /** @description First seen at or after this date, or date and time. */
                seenFrom?: string;
                /** @description First seen before this date, or date and time. */
                seenTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["QuarantinedRecord"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revealQuarantine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        rawText: string;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replayQuarantine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        outcome: "replayed" | "superseded";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    dismissQuarantine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        state: "dismissed";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createErasure: {
        parameters: {
            query?: {
                /** @description Only reports what would be erased. */
                dryRun?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    sellerId: string;
                    customerOrderId: string;
                    /** @description Why. It is stored, so it must not name the buyer. */
                    reason: string;
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description With this id. */
                campaignId?: string;
                /** @description In this status of the marketplace. */
                status?: string;
                /** @description Whether it is watched. */
                watched?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Campaign"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Required when the daemon serves several sellers. */
                    sellerId?: string;
                    campaignIds: string[];
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sellerId: string;
                        /** @description All given ids, without duplicates. */
                        readonly campaignIds: string[];
                        /** @description Ids that were not watched before. */
                        readonly added: string[];
                        /** @description Ids of the jobs that will read them. */
                        readonly jobs: string[];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCampaign: {
        parameters: {
            query?: {
                /** @description Required when several sellers have a campaign with this id. */
                sellerId?: string;
            };
            header?: never;
            path: {
                campaignId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignDetail"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteCampaign: {
        parameters: {
            query?: {
                /** @description Required when several sellers have a campaign with this id. */
                sellerId?: string;
            };
            header?: never;
            path: {
                campaignId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sellerId: string;
                        campaignId: string;
                        /** @enum {boolean} */
                        watched: false;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDiscrepancies: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Month of the report, by the calendar of the marketplace. */
                month?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description Of this GTIN. */
                gtin?: string;
                kind?: "balance" | "carry-over" | "row" | "sold" | "returned" | "lost" | "found" | "damaged" | "other";
                state?: "open" | "resolved" | "all";
                /** @description First seen at or after this date, or date and time. */
                seenFrom?: string;
                /** @description First seen before this date, or date and time. */
                seenTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InventoryDiscrepancy"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listClaims: {
        parameters: {
            query: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Month of the report, by the calendar of the marketplace. */
                month: string;
                /** @description Of this seller. */
                sellerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InventoryClaim"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listReconciliation: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Month of the report, by the calendar of the marketplace. */
                month?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description Of this GTIN, in the report's spelling. */
                gtin?: string;
                /** @description Whether units were lost, damaged or found. */
                adjusted?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StockMonth"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getReconciliation: {
        parameters: {
            query?: {
                /** @description Required when there are several sellers. */
                sellerId?: string;
            };
            header?: never;
            path: {
                gtin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GtinReport"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` (Temporarily unavailable) */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listClaimsItems: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Month of the report, by the calendar of the marketplace. */
                month?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description Of this kind. */
                kind?: "lost" | "damaged" | "missing" | "returned" | "inbound";
                state?: "open" | "filed" | "paid-in-part" | "paid" | "refused" | "expired" | "withdrawn" | "all";
                /** @description To be filed before this date, or date and time. */
                dueTo?: string;
                /** @description -id: newest first; deadline: the next deadline first, claims without one last. */
                sort?: "-id" | "deadline";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ClaimItem"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listClaimsPayments: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description Of this claim. */
                claimId?: string;
                /** @description Whether it is known which claim the row pays. */
                assigned?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ClaimPayment"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClaimsEvidence: {
        parameters: {
            query: {
                /** @description Month of the report, by the calendar of the marketplace. */
                month: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this kind. */
                kind?: "lost" | "damaged" | "missing" | "returned" | "inbound";
                state?: "open" | "filed" | "paid-in-part" | "paid" | "refused" | "expired" | "withdrawn" | "all";
                /** @description html: a page to print; csv: one row for each piece of evidence. */
                format?: "json" | "csv" | "html";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The claims with their evidence. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ClaimEvidence"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClaim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimItem"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createClaim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    state: "open" | "filed" | "paid-in-part" | "paid" | "refused";
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why; recorded in the audit. */
                    reason?: string | null;
                    /** @description The number of the case at the marketplace. */
                    reference?: string | null;
                    /** @description What was paid, in the currency of the value. */
                    paidAmount?: string | null;
                    /** @default false */
                    force?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimItem"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClaimEvidence: {
        parameters: {
            query?: {
                /** @description html: a page to print; csv: one row for each piece of evidence. */
                format?: "json" | "csv" | "html";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The claims with their evidence. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ClaimEvidence"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listLateReturns: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description With this id. */
                returnOrderId?: string;
                /** @description At least one line is of this order. */
                purchaseOrderId?: string;
                /** @description At least one line has this SKU. */
                sku?: string;
                /** @description late: the deadline has passed; soon: it passes within 12 hours. Default: both. */
                state?: "late" | "soon";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["LateReturn"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStock: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description Of this GTIN, in the list's spelling. */
                gtin?: string;
                /** @description In this status of the marketplace, such as `In-stock`. */
                stockStatus?: string;
                /** @description missing: SKUs that the marketplace's list no longer has. */
                state?: "listed" | "missing" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StockOnHand"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStockDifferences: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this SKU. */
                sku?: string;
                state?: "open" | "resolved" | "all";
                /** @description First seen at or after this date, or date and time. */
                seenFrom?: string;
                /** @description First seen before this date, or date and time. */
                seenTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StockDifference"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInboundShipments: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this shipment. */
                shipmentId?: string;
                /** @description Of this SKU. */
                sku?: string;
                /** @description not-received: short or unknown-sku. */
                state?: "open" | "complete" | "short" | "over" | "unknown-sku" | "not-received" | "all";
                /** @description Whether not all units were received by the expected time. */
                late?: boolean | ("true" | "false");
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["InboundShipmentLine"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSettlementDifferences: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                kind?: "paid-less" | "paid-more" | "paid-twice" | "never-paid" | "refund-without-return" | "commission-off-rate" | "unknown-fee";
                /** @description Of this order. */
                purchaseOrderId?: string;
                /** @description Of this SKU. */
                sku?: string;
                state?: "open" | "resolved" | "all";
                /** @description First seen at or after this date, or date and time. */
                seenFrom?: string;
                /** @description First seen before this date, or date and time. */
                seenTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SettlementDifference"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    troubleDemonstration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trouble"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDrift: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this operation, such as `orders.list`. */
                operation?: string;
                kind?: "field" | "value" | "type" | "header" | "status";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Drift"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTrends: {
        parameters: {
            query?: {
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Number of days. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        timeZone: string;
                        readonly days: string[];
                        readonly items: components["schemas"]["Trend"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTargets: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Of this seller. */
                sellerId?: string;
                tactic?: "behavioral" | "contextual";
                /** @description Whether an ad group may use it now. */
                usable?: boolean | ("true" | "false");
                /** @description Part of the name or of the path, in upper or lower case. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Target"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAlarms: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                state?: "open" | "all";
                /** @description Of this seller. */
                sellerId?: string;
                /** @description Of this kind, such as `command-held`. */
                kind?: string;
                /** @description Of this severity. */
                severity?: "critical" | "warning" | "notice";
                /** @description Whether an operator has silenced it until a future time. */
                silenced?: boolean | ("true" | "false");
                /** @description About this subject: a command, an order, a SKU … */
                subject?: string;
                /** @description Raised at or after this date, or date and time. */
                raisedFrom?: string;
                /** @description Raised before this date, or date and time. */
                raisedTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Alarm"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolveAlarm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    reason?: string | null;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        resolved: boolean;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    silenceAlarm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                    /** @description Why. */
                    reason: string;
                    /** @description Date, or date and time, at most a year ahead. */
                    until: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** Format: date-time */
                        silencedUntil: string;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAlarmChannels: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AlarmChannel"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createAlarmChannel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @enum {string} */
                    kind: "slack" | "teams" | "email";
                    /** @description Slack, Teams: the URL of the incoming webhook or workflow. It is secret, and no answer contains it. */
                    url?: string;
                    /** @description E-mail: the recipients. */
                    recipients?: string[];
                    /** @description Severities of the alarms that it gets. */
                    severities?: ("critical" | "warning" | "notice")[];
                    /** @description Audiences of the alarms that it gets; empty: all. */
                    concerns?: ("warehouse" | "integrator" | "operator")[];
                    /** @description Sellers of the alarms that it gets; empty: all. */
                    sellerIds?: string[];
                    /**
                     * @description When messages are sent; outside of these hours they wait. null: always.
                     * @default null
                     */
                    hours?: components["schemas"]["ChannelHoursInput"] | null;
                    /**
                     * @description An alarm that stays open is repeated after this number of hours; null: never.
                     * @default null
                     */
                    repeatHours?: number | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlarmChannel"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAlarmChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlarmChannel"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteAlarmChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {boolean} */
                        removed: true;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateAlarmChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description Slack, Teams: the URL of the incoming webhook or workflow. It is secret, and no answer contains it. */
                    url?: string;
                    /** @description E-mail: the recipients. */
                    recipients?: string[];
                    severities?: ("critical" | "warning" | "notice")[];
                    concerns?: ("warehouse" | "integrator" | "operator")[];
                    sellerIds?: string[];
                    hours?: components["schemas"]["ChannelHoursInput"] | null;
                    repeatHours?: number | null;
                    /**
                     * @description paused: nothing is sent; alarms that are still open when it is resumed are sent then.
                     * @enum {string}
                     */
                    state?: "active" | "paused";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlarmChannel"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testAlarmChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        delivered: boolean;
                        /** @description HTTP status, or status of the mail server; null: there was no answer. */
                        status: number | null;
                        /** @description A code such as timeout, address-refused, EAUTH or ECONNREFUSED. */
                        error: string | null;
                        durationMs: number;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCompleteness: {
        parameters: {
            query?: {
                sellerId?: string;
                source?: "returns" | "inventory-log" | "settlements" | "events" | "notifications";
                /** @description The first day (UTC). Without it, `days` counts. */
                from?: string;
                /** @description The last day (UTC). Default: today. */
                to?: string;
                /** @description Number of days before `to`, if `from` is not given. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["NamedDay"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RetainedData"][];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    runRetention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        askedAt: string;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` (Temporarily unavailable) */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                state?: "active" | "all";
                /** @description With this name. */
                name?: string;
                /** @description Keys that may act for this seller: those bound to it, and those bound to none. */
                sellerId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Key"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    scopes: ("read" | "events:write" | "propose" | "operate")[];
                    /**
                     * @description Binds the key to these sellers; null: all, also those that are added later.
                     * @default null
                     */
                    sellerIds?: string[] | null;
                    /** @description Why; for the audit. */
                    reason?: string | null;
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `event-conflict` (Another event has this source and id), `ambiguous-order` (Several sellers have an order with this id), `ambiguous-campaign` (Several sellers have a campaign with this id), `seller-stopped` (The seller is stopped or paused), `seller-served` (The seller is still served), `seller-unsettled` (The seller has work that is not settled), `shadow-differs` (Orders differ from what was predicted), `illegal-state` (The state does not allow it) */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How long both secrets are accepted: 0 to 30 days.
                     * @default 86400
                     */
                    overlapSeconds?: number;
                    /** @description Why; for the audit. */
                    reason?: string | null;
                    /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                    actor?: string;
                } | null;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteKey: {
        parameters: {
            query?: {
                reason?: string;
                /** @description The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one. */
                actor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Length of the page, 1 to 1000. */
                limit?: number;
                /** @description `nextCursor` of the previous page; opaque. */
                cursor?: string;
                /** @description Concerning this seller. */
                sellerId?: string;
                /** @description By this actor: the name of a key, or the actor that the request named. */
                actor?: string;
                /** @description On behalf of this actor, which a request with a named key named. */
                onBehalfOf?: string;
                /** @description With this key: its id, or `API_KEY`. */
                keyId?: string;
                action?: "alarm.closed" | "alarm.silenced" | "alarm_channel.added" | "alarm_channel.changed" | "alarm_channel.removed" | "alarm_channel.test_requested" | "buyer.erased" | "buyer.shown" | "campaigns.watched" | "campaign.unwatched" | "claim.decided" | "command.decided" | "event.rejected" | "key.added" | "key.revoked" | "key.rotated" | "log_reasons.changed" | "proposal.added" | "proposal.approval_requested" | "proposal.rejected" | "queues.change_requested" | "record.dismissed" | "record.replay_requested" | "record.shown" | "retention.run_requested" | "seller.paused" | "seller.removed" | "seller.went_live" | "seller.went_shadow" | "seller.resumed" | "sellers.reload_requested" | "session.closed" | "session.opened" | "sync.run_requested" | "webhook.added" | "webhook.changed" | "webhook.redelivered" | "webhook.removed" | "webhook.rotated" | "webhook.test_requested";
                /** @description On the subject with this id. */
                subject?: string;
                /** @description Done at or after this date, or date and time. */
                from?: string;
                /** @description Done before this date, or date and time. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page as JSON, or with `Accept: text/csv` all matching rows as a table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AuditEntry"][];
                        /** @description Cursor of the next page; null on the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLivez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The key. */
                    key: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unsupported-media-type` (The body is of an unknown type) */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        signedIn: boolean;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        readonly items: components["schemas"]["Setting"][];
                        /** @description Variables with the prefix of a setting that are not settings: they have no effect. */
                        readonly unknown: string[];
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sellerId: string;
            };
            cookie?: never;
        };
        /** @description Kept nowhere. */
        requestBody: {
            content: {
                "application/json": {
                    source: {
                        eventType: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description `ignored`: nothing is read for a notification of this type, or it names no record.
                         * @enum {string}
                         */
                        status: "accepted" | "duplicate" | "ignored";
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `invalid-body` (The body is invalid), `invalid-settings` (The settings are invalid), `invalid-event` (The event is invalid), `still-malformed` (The record still cannot be parsed) */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tokenNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sellerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        access_token: string;
                        /** @enum {string} */
                        token_type: "Bearer";
                        /** @description Seconds. */
                        expires_in: number;
                    };
                };
            };
            /** @description `malformed-request` (The request is malformed), `malformed-json` (The body is not JSON), `invalid-request` (The request has invalid parameters), `unknown-parameter` (The route does not know a parameter), `position-beyond-end` (The position is beyond the end of the feed), `invalid-cursor` (The cursor does not belong to this list) */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthenticated` (A key is required), `invalid-signature` (The signature does not prove the sender) */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `host-refused` (Not addressed by a loopback name), `origin-refused` (Pages of other origins may not change anything), `scope-missing` (The key may not do this), `seller-refused` (The key is bound to other sellers) */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not-found` (Not found), `not-yet-known` (Not known at that time) */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `body-too-large` (The body is too large) */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `too-many-attempts` (Too many wrong keys) */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal` (Internal error) */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receiveChange: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Id of the message; the same for each attempt.
                 * @example wh_0123456789abcdef0123456789abcdef_4711
                 */
                "webhook-id": string;
                /**
                 * @description Seconds since 1970 of this attempt.
                 * @example 1772357400
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the signature of `{id}.{timestamp}.{body}`; two of them, with a space between, while the secret is being rotated.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents+json": components["schemas"]["ChangeEvent"];
            };
        };
        responses: {
            /** @description Accepted; any status from 200 to 299 means so. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description No longer wanted: the endpoint is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried after `Retry-After`. Every other status is a failure and is retried. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

/** Every named shape of the interface. */
export type Schemas = components['schemas'];
/** One change of the feed, by its `type`. */
export type Change = Schemas['Change'];
/** Every type of change. */
export type ChangeType = Change['type'];
/** A change of this type. */
export type ChangeOf<Type extends ChangeType> = Extract<Change, { type: Type }>;
/** A change as a CloudEvent. */
export type ChangeEvent = Schemas['ChangeEvent'];
/** An event of the ERP, by its `type`. */
export type ErpEvent = Schemas['ErpEvent'];
/** Every type of ERP event. */
export type ErpEventType = ErpEvent['type'];
/** An ERP event of this type. */
export type ErpEventOf<Type extends ErpEventType> = Extract<ErpEvent, { type: Type }>;
export type EventReceipt = Schemas['EventReceipt'];
export type Order = Schemas['Order'];
export type OrderSummary = Schemas['OrderSummary'];
export type Command = Schemas['Command'];
export type Problem = Schemas['Problem'];
