/** One text for another, in a file; the text stands there exactly once. */
export interface Replacement {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A rule of the engine that is taken out. */
export interface Mutation {
  /** The rule, as a sentence. */
  readonly rule: string
  readonly replacements: readonly Replacement[]
}

const without = (rule: string, file: string, from: string, to = ''): Mutation => ({
  rule,
  replacements: [{ file: `src/${file}`, from, to }],
})

/** Rules without which the engine must not withstand the histories. `npm run mutations` takes them out one by one. */
export const mutations: readonly Mutation[] = [
  // ── before a request leaves ──
  without(
    'A request leaves before its deadline only.',
    'jobs/commands/engine/deadline.ts',
    'passed: () => Math.abs(clock.wallMs() - wallMs) >= allowedMs || isLate(),',
    'passed: () => clock.monotonicMs() - monotonicMs < -allowedMs + wallMs * 0,',
  ),
  {
    rule: 'The deadline begins before the intent is stored.',
    replacements: [
      {
        file: 'src/jobs/commands/engine/send.ts',
        from: 'sendPrepared(run, prepared, { transmit, correlationId, permit, deadline })',
        to: 'sendPrepared(run, prepared, { transmit, correlationId, permit, deadline: startDeadline(parts) })',
      },
    ],
  },
  without(
    'The deadline goes by the wall clock too: the other stands still while a machine sleeps.',
    'jobs/commands/engine/deadline.ts',
    'Math.abs(clock.wallMs() - wallMs) >= allowedMs || ',
  ),
  without(
    'Nothing is sent while the marketplace says that it does not have the order.',
    'jobs/commands/engine/send.ts',
    'return subject.absence === null\n',
    "return subject.absence !== 'nothing'\n",
  ),
  without(
    'Nothing is sent on a view that is behind what is known.',
    'jobs/commands/engine/send.ts',
    'if (lag !== null) {',
    'if (lag === "nothing") {',
  ),
  without(
    'What earlier attempts changed is judged before another request.',
    'jobs/commands/engine/send.ts',
    'if (command.attempts === 0) return null',
    'if (command.attempts >= 0) return null',
  ),
  without(
    'The money of a refund is checked once more right before sending.',
    'jobs/commands/kinds/order.ts',
    "  if (content.kind === 'refund') faults.push(...checkMoneyLeft(content.payload, stored, view))\n",
  ),
  without(
    'What confirmed commands prove raises the baseline.',
    'jobs/commands/kinds/order.ts',
    'raiseBaseline(words, takeBaseline(view), proof)',
    'takeBaseline(view)',
  ),
  // ── what an answer says ──
  without(
    'A yes confirms only what the order shows.',
    'jobs/commands/engine/outcome.ts',
    "if (evidence?.verdict === 'applied') {",
    'if (evidence !== null) {',
  ),
  without(
    'An open outcome is read back.',
    'jobs/commands/engine/outcome.ts',
    "if (failure.kind === 'unknown' || failure.kind === 'malformed') {",
    "if (failure.kind === 'malformed') {",
  ),
  without(
    'A refusal that says "already done", and one after an attempt that may have had its effect, is read back.',
    'jobs/commands/engine/outcome.ts',
    'if (subject.mayBeDone(failure) || before.length > 0)',
    'if (before.length > 100)',
  ),
  without(
    'After a lock (423, 425) the effect is unknown.',
    'clients/http/classify.ts',
    'if (status < 400 || status >= 500 || openStatuses.has(status) || !fromMarketplace) return unclear',
    'if (status < 400 || status >= 500 || !fromMarketplace) return unclear',
  ),
  without(
    'Only an answer of the marketplace itself refuses.',
    'clients/http/classify.ts',
    'if (status < 400 || status >= 500 || openStatuses.has(status) || !fromMarketplace) return unclear',
    'if (status < 400 || status >= 500 || openStatuses.has(status)) return unclear',
  ),
  without(
    'A write whose connection broke may have had its effect.',
    'clients/http/classify.ts',
    "const kind = write && exchange.sent !== 'never' ? 'unknown' : 'unavailable'",
    "const kind = 'unavailable' as const",
  ),
  without(
    'A write that is answered with what is no JSON may have had its effect.',
    'clients/http/classify.ts',
    "    if (exchange.write) return { kind: 'unknown' }\n",
  ),
  without(
    'A write goes out once under one correlation id, whatever its answer.',
    'clients/http/caller.ts',
    '    if (call.operation.write) return { ...made, mayRepeat: false }\n',
  ),
  // ── reading back ──
  without(
    'Nothing counts against a request before the settle time is over.',
    'jobs/commands/engine/verify.ts',
    'if (elapsedMs < parts.settleTimeMs || last.clearReads + 1 < minClearReads) {',
    'if (last.clearReads + 1 < minClearReads) {',
  ),
  without(
    'Nothing waits for ever: what fails too long is held.',
    'jobs/commands/engine/steps.ts',
    'if (sinceMs >= maxRetryMs(parts, state) && looks >= minFailures) {',
    'if (sinceMs >= 1_000 * maxRetryMs(parts, state) && looks >= minFailures) {',
  ),
  // ── evidence ──
  without(
    'A shipment is known by its tracking number.',
    'domain/commands/evidence.ts',
    '  const trackedBefore = unitsByTracking(before, words)\n  const trackedNow = unitsByTracking(now, words)\n  const untracked',
    "  if (shipped >= quantity) return landed('shipped')\n  const trackedBefore = unitsByTracking(before, words)\n  const trackedNow = unitsByTracking(now, words)\n  const untracked",
  ),
  without(
    'A cancellation is known by its reason.',
    'domain/commands/evidence.ts',
    '    if (gained !== units) {\n',
    '    if (cancelled < quantity || gained > 1_000) {\n',
  ),
  without(
    'A refund is known by its money.',
    'domain/commands/evidence.ts',
    '  if (!money.eq(asked.money)) return',
    '  if (money.isNaN()) return',
  ),
  without(
    'A refund is known by its reasons.',
    'domain/commands/evidence.ts',
    '  if (!reasonsAgree(asked.reasons, gained, now)) {\n',
    '  if (gained.length > 1_000) {\n',
  ),
  without(
    'An accepted shipment is seen whole before it is confirmed.',
    'domain/commands/evidence.ts',
    'if (now.units.shipped - before.units.shipped < asked.quantity || ours + untracked < asked.quantity) return strict',
    'if (ours + untracked < 1) return strict',
  ),
  without(
    'An accepted cancellation is seen whole before it is confirmed.',
    'domain/commands/evidence.ts',
    'if (now.units.cancelled - before.units.cancelled < asked.quantity || ours + unstated < asked.quantity) return strict',
    'if (now.units.cancelled === before.units.cancelled) return strict',
  ),
  without(
    'An accepted refund is seen with the money that was asked.',
    'domain/commands/evidence.ts',
    '  if (moneyShown && !money.eq(asked.money)) return strict\n',
  ),
  // ── what is stored and accepted ──
  without(
    'A view that shows fewer units never replaces what is stored.',
    'domain/orders/order-merge.ts',
    "  if (stored.behindMs === null) return 'behind'\n  return stored.behindMs >= behindBelievedAfterMs ? 'write' : 'skip'\n",
    "  return 'write'\n",
  ),
  // ── units and money ──
  without(
    'No more units are shipped and cancelled than were ordered.',
    'domain/orders/units.ts',
    "      : ledger.ordered - count(ledger, 'ship') - count(ledger, 'cancel')",
    '      : ledger.ordered',
  ),
  without(
    'What the marketplace reports as done counts.',
    'domain/orders/units.ts',
    'return Math.max(reported[count], confirmed[count], landed, shadow?.predicted[count] ?? 0)',
    'return Math.max(reported[count] * 0, confirmed[count], landed, shadow?.predicted[count] ?? 0)',
  ),
  {
    rule: 'No more units are refunded than were shipped.',
    replacements: [
      {
        file: 'src/domain/orders/units.ts',
        from: "? count(ledger, 'ship') - count(ledger, 'refund')",
        to: '? ledger.ordered',
      },
      {
        file: 'src/domain/orders/units.ts',
        from: 'Math.max(0, Math.min(room, ledger.ordered - ledger.refundSlots.length))',
        to: 'room',
      },
      {
        file: 'src/domain/refunds/refunds.ts',
        from: 'if (free.length - foreign < quantity) return null',
        to: 'if (free.length - foreign < quantity) return Array.from({ length: quantity }, (_, slot) => slot)',
      },
    ],
  },
  without(
    'A refund gives back the tax of its units.',
    'domain/refunds/refunds.ts',
    '(part, net.digits, { amount, tax, fees }))',
    '(part, net.digits, { amount, fees }))',
  ),
  without(
    'A refund gives back the share of its units, not the line.',
    'domain/refunds/refunds.ts',
    '    const amount = computeShares(part.amount, slots, line.ordered)\n',
    '    const amount = part.amount\n',
  ),
  without(
    'The shares of all units add up to the line.',
    'domain/refunds/refunds.ts',
    'return roundedRatio(total * BigInt(slot + 1), slots) - roundedRatio(total * BigInt(slot), slots)',
    'return roundedRatio(total + BigInt(slot) * 0n, slots)',
  ),
  without(
    'A unit whose money a refund of ours holds is not refunded again.',
    'domain/refunds/refunds.ts',
    'if (!held.has(slot)) free.push(slot)',
    'free.push(slot)',
  ),
  {
    rule: 'No more money is given back than is left.',
    replacements: [
      { file: 'src/domain/refunds/refunds.ts', from: 'if (left.lt(asked)) {', to: 'if (left.isNaN()) {' },
      {
        file: 'src/jobs/commands/kinds/order.ts',
        from: "  if (content.kind === 'refund') faults.push(...checkMoneyLeft(content.payload, stored, view))\n",
        to: '',
      },
    ],
  },
  // ── whose word counts ──
  without(
    'An attempt that the marketplace says it has never looked at is judged all the same.',
    'jobs/commands/engine/send.ts',
    '  const judged = last === undefined ? attempts : processed\n',
    '  if (last === undefined) return null\n  const judged = processed\n',
  ),
  without(
    'No word stands against a part that the order shows under our marks.',
    'jobs/commands/engine/send.ts',
    'if (command.parts !== null || !evidence?.lines.some(({ underOurMark }) => underOurMark)) return null',
    'if (command.attempts > 0) return null',
  ),
  without(
    'Units that were refunded since prove no shipment.',
    'domain/commands/evidence.ts',
    "(trackedBefore.get('') ?? 0) - refunded)",
    "(trackedBefore.get('') ?? 0))",
  ),
  // ── refunds through returns, and corrections ──
  {
    rule: 'Units that are refunded through their return are reserved in their order.',
    replacements: [
      {
        file: 'src/domain/orders/units.ts',
        from: 'if (kind === null || isReleased(command.state)) continue',
        to: "if (kind === null || isReleased(command.state) || command.kind === 'refund-return') continue",
      },
      {
        file: 'src/domain/orders/returned-units.ts',
        from: 'if (byLine.size === 0) return order',
        to: 'if (byLine.size >= 0) return order',
      },
    ],
  },
  without(
    'Units that are refunded through their order since the return exists count as its units.',
    'domain/orders/returned-units.ts',
    'Math.max(line.refunded ?? 0, through, confirmed + credited)',
    'Math.max(line.refunded ?? 0, through)',
  ),
  without(
    'A return is read right before its units are refunded.',
    'jobs/commands/kinds/refund-return.ts',
    '    readsFirst: true,',
    '    readsFirst: false,',
  ),
  without(
    'Before the refund of a return is sent again, the return shows whether it was made.',
    'domain/commands/evidence.ts',
    '  const gained = now - before\n  const seen =',
    '  const gained = 0 * (now - before)\n  const seen =',
  ),
  without(
    'The refund of a line of a return is proven by that line.',
    'domain/commands/evidence.ts',
    'baseline?.lines.find((line) => line.returnLineNumber === returnLineNumber)',
    'baseline?.lines[0]',
  ),
  without(
    'Refunds of ours through a return count for the line that they name.',
    'domain/orders/returned-units.ts',
    '(line.returnLineNumber === returnLineNumber ? sum + line.quantity : sum)',
    '(line.returnLineNumber !== returnLineNumber ? sum + line.quantity : sum)',
  ),
  {
    rule: 'A correction is sent again only while the order shows the wrong number.',
    replacements: [
      {
        file: 'src/domain/commands/evidence.ts',
        from: '  if (gained > 0 && oldNow === 0 && gained + refunded >= oldBefore) return landed(units)\n',
        to: '  if (gained > 0) return absent(units)\n',
      },
      {
        file: 'src/domain/commands/correction.ts',
        from: '  if (isShown(trackingNumber)) return null\n',
        to: '  if (isShown(replacement.trackingNumber)) return null\n  if (isShown(trackingNumber)) return null\n',
      },
    ],
  },
  without(
    'A refused correction is read back: the words for one that was made before are not known.',
    'jobs/commands/kinds/order.ts',
    " || content.kind === 'correct-shipment',\n    prepare",
    ',\n    prepare',
  ),
  without(
    'A refused refund of a return is read back: the words for one that was made before are not known.',
    'jobs/commands/kinds/refund-return.ts',
    '    mayBeDone: () => true,',
    '    mayBeDone: () => false,',
  ),
  {
    rule: 'No more money is given back through a return than is left.',
    replacements: [
      {
        file: 'src/domain/events/return-refunds.ts',
        from: '  if (spent.length > 0) return',
        to: '  if (spent.length > 1_000) return',
      },
      {
        file: 'src/jobs/commands/kinds/refund-return.ts',
        from: '  faults.push(...checkMoneyLeft(payload, stored.order, view.order))\n',
        to: '',
      },
    ],
  },
]
