// The console: loads everything from the API and inserts text only, never HTML, into the page.

const keyName = 'tallyman-api-key'
const refreshMs = 5_000
const shownRows = 50
const meanings = {
  retry: 'Sends the command again. Choose it when the request certainly changed nothing at the marketplace.',
  confirm: 'Marks the command as applied: its units count as done. Choose it when the order shows them.',
  reject: 'Abandons the command: its units are released. Choose it when nothing was applied and nothing should be.',
}

const byId = (id) => document.getElementById(id)
const shown = new Map()
let timer
let failedBefore = false

/** Calls the API; throws an Error with the problem's detail and its `status`. */
const ask = async (path, options = {}) => {
  const key = sessionStorage.getItem(keyName)
  const headers = { accept: 'application/json', ...options.headers }
  if (key !== null) headers.authorization = `Bearer ${key}`
  const response = await fetch(path, { ...options, headers })
  const answer = await response.json().catch(() => null)
  if (response.ok || path === '/readyz') return answer
  const faults = (answer?.errors ?? []).map(({ path: place, message }) => `${place} ${message}`)
  const error = new Error([answer?.detail ?? `HTTP ${response.status}`, ...faults].join(' '))
  error.status = response.status
  throw error
}

const post = (path, body) =>
  ask(path, {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

const moment = (text) => {
  if (text === null || text === undefined) return element('span', { className: 'faint' }, '–')
  return element('time', { dateTime: text, title: text }, new Date(text).toLocaleString())
}

const ago = (milliseconds) => {
  if (milliseconds === null) return 'never yet'
  const seconds = Math.max(0, Math.round(milliseconds / 1_000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

const more = (summary, value) =>
  element(
    'details',
    {},
    element('summary', {}, summary),
    element('pre', {}, typeof value === 'string' ? value : JSON.stringify(value, null, 2)),
  )

const table = (caption, headings, rows) =>
  element(
    'div',
    { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: caption },
    element(
      'table',
      {},
      element('caption', { className: 'visually-hidden' }, caption),
      element('thead', {}, element('tr', {}, ...headings.map((heading) => element('th', { scope: 'col' }, heading)))),
      element(
        'tbody',
        {},
        ...rows.map((cells) =>
          element(
            'tr',
            {},
            ...cells.map((cell) =>
              element(
                'td',
                typeof cell === 'number' ? { className: 'number' } : {},
                typeof cell === 'number' ? String(cell) : (cell ?? '–'),
              ),
            ),
          ),
        ),
      ),
    ),
  )

const none = (words) => element('p', { className: 'faint' }, words)

/** Renders a part again only when its data has changed: focus and opened details are kept. */
const draw = (id, value, build) => {
  const text = JSON.stringify(value)
  if (shown.get(id) === text) return
  shown.set(id, text)
  byId(id).replaceChildren(build(value))
}

const unitsOf = (lines) => lines.map(({ lineNumber, quantity }) => `line ${lineNumber}: ${quantity}`).join(', ')

const numbers = ({ orders, commands, waitingEvents, quarantined, discrepancies, alarms }) => {
  const tiles = [
    ['Open orders', orders.open, false],
    ['Late orders', orders.late, orders.late > 0],
    ['Held commands', commands.held ?? 0, (commands.held ?? 0) > 0],
    ['Verifying', commands.verifying ?? 0, false],
    ['Pending and sending', (commands.pending ?? 0) + (commands.sending ?? 0), false],
    ['Confirmed in 24 h', commands.confirmed ?? 0, false],
    ['Rejected in 24 h', commands.rejected ?? 0, false],
    ['Waiting events', waitingEvents, false],
    ['In quarantine', quarantined, quarantined > 0],
    ['Inventory differences', discrepancies, false],
    ['Alarms', alarms, alarms > 0],
  ]
  const all = document.createDocumentFragment()
  for (const [name, value, bad] of tiles) {
    all.append(element('div', {}, element('dt', {}, name), element('dd', bad ? { className: 'bad' } : {}, String(value))))
  }
  return all
}

const nameOf = ({ kind, purchaseOrderId }) => (purchaseOrderId === null ? kind : `${kind} of order ${purchaseOrderId}`)

const decide = (command, decision) => {
  const dialog = byId('decision')
  byId('decision-title').textContent = `${decision}: ${nameOf(command)}`
  byId('decision-meaning').textContent = meanings[decision]
  byId('decision-submit').textContent = decision
  byId('decision-problem').hidden = true
  byId('reason').value = ''
  byId('decision-form').onsubmit = async (submit) => {
    submit.preventDefault()
    const button = byId('decision-submit')
    button.disabled = true
    try {
      await post(`/v1/commands/${encodeURIComponent(command.id)}/${decision}`, {
        actor: byId('actor').value,
        reason: byId('reason').value,
      })
      dialog.close()
      await refresh()
    } catch (error) {
      byId('decision-problem').textContent = error.message
      byId('decision-problem').hidden = false
    } finally {
      button.disabled = false
    }
  }
  dialog.showModal()
}

const held = ({ items }) => {
  if (items.length === 0) return none('None. Nothing waits for a decision.')
  const rows = items.map((command) => [
    element('span', {}, `${command.kind} `, element('span', { className: 'faint' }, unitsOf(command.lines))),
    element('code', {}, command.purchaseOrderId ?? '–'),
    command.reason ?? '–',
    element(
      'div',
      {},
      more('Evidence', command.evidence),
      more(`Attempts (${command.attempts.length})`, command.attempts),
      element('p', { className: 'faint' }, `Correlation ids: ${command.correlationIds.join(', ') || 'none'}`),
    ),
    element(
      'div',
      { className: 'actions' },
      ...Object.keys(meanings).map((decision) =>
        element(
          'button',
          {
            type: 'button',
            onclick: () => decide(command, decision),
            ariaLabel: `${decision} ${nameOf(command)}`,
          },
          decision,
        ),
      ),
    ),
  ])
  return table('Held commands', ['Command', 'Order', 'Reason', 'What is known', 'Decide'], rows)
}

const alarms = ({ items }) =>
  items.length === 0
    ? none('None.')
    : table(
        'Alarms',
        ['Since', 'Seller', 'About', 'What to do'],
        items.map((alarm) => [moment(alarm.raisedAt), alarm.sellerId, alarm.kind, alarm.message]),
      )

const late = ({ items, nextCursor }) => {
  if (items.length === 0) return none('None.')
  const rows = items.map((order) => [
    element('code', {}, order.purchaseOrderId),
    order.sellerId,
    moment(order.estimatedShipDate),
    order.lines.reduce((sum, line) => sum + line.ordered - line.shipped - line.cancelled, 0),
  ])
  const all = element('div', {}, table('Late orders', ['Order', 'Seller', 'To be shipped by', 'Units open'], rows))
  if (nextCursor !== null) all.append(none(`The first ${items.length}; all are at /v1/orders?late=true.`))
  return all
}

const commands = ({ items }) => {
  if (items.length === 0) return none('None yet.')
  const rows = items.map((command) => [
    element('span', {}, `${command.kind} `, element('span', { className: 'faint' }, unitsOf(command.lines))),
    element('code', {}, command.purchaseOrderId ?? '–'),
    element('span', { className: { held: 'bad', rejected: 'bad', confirmed: 'good' }[command.state] ?? '' }, command.state),
    command.reason ?? '–',
    moment(command.createdAt),
    moment(command.settledAt),
  ])
  return table('Latest commands', ['Command', 'Order', 'State', 'Reason', 'Accepted', 'Settled'], rows)
}

const differences = ({ items, nextCursor }) => {
  if (items.length === 0) return none('None. Reports, months and inventory log agree as far as they have been read.')
  const rows = items.map((found) => [
    element('code', {}, found.sku),
    found.sellerId,
    found.month,
    found.kind,
    found.reportUnits,
    found.expectedUnits,
    found.value === null ? '–' : `${found.value} ${found.currency}`,
    found.log === null ? '–' : more(`${found.log.verdict} in the log`, found.log),
  ])
  const headings = ['SKU', 'Seller', 'Month', 'What', 'Reported', 'Expected', 'Value', 'Log']
  const all = element('div', {}, table('Inventory differences', headings, rows))
  if (nextCursor !== null) all.append(none(`The first ${items.length}; all are at /v1/discrepancies.`))
  return all
}

const campaigns = ({ items, nextCursor }) => {
  if (items.length === 0) return none('None is watched: add ids to CAMPAIGN_IDS, or run tallyman campaigns watch.')
  const rows = items.map((campaign) => [
    element('code', {}, campaign.campaignId),
    campaign.sellerId,
    campaign.name ?? '–',
    campaign.problem === null ? (campaign.status ?? 'not read yet') : element('span', { className: 'bad' }, campaign.problem),
    campaign.totalBudget ?? '–',
    campaign.endDate ?? 'open',
    moment(campaign.observedAt),
  ])
  const headings = ['Campaign', 'Seller', 'Name', 'Status', 'Total budget', 'Ends', 'Since']
  const all = element('div', {}, table('Campaigns', headings, rows))
  if (nextCursor !== null) all.append(none(`The first ${items.length}; all are at /v1/campaigns.`))
  return all
}

const syncs = ({ items }) => {
  if (items.length === 0) return none('None has run yet.')
  const rows = items.map((sync) => [
    `${sync.resource} ${sync.stream}`,
    sync.sellerId,
    sync.notEnrolled !== null
      ? 'not enrolled'
      : sync.running
        ? 'running'
        : sync.windowsPending > 0
          ? `${sync.windowsPending} ${sync.windowsPending === 1 ? 'window' : 'windows'} to go`
          : 'idle',
    ago(sync.lagMs),
    moment(sync.watermark),
    sync.lastError === null ? '–' : element('span', { className: 'bad' }, sync.lastError),
  ])
  return table('Syncs', ['Sync', 'Seller', 'State', 'Behind', 'Read up to', 'Last error'], rows)
}

const replay = async (record, button) => {
  button.disabled = true
  try {
    await post(`/v1/quarantine/${record.id}/replay`)
  } catch (error) {
    tell(error.message)
  } finally {
    button.disabled = false
  }
  await refresh()
}

const quarantine = ({ items }) => {
  if (items.length === 0) return none('Empty. All records could be parsed.')
  const rows = items.map((record) => {
    const button = element('button', { type: 'button', ariaLabel: `Replay record ${record.id}` }, 'Replay')
    button.onclick = () => replay(record, button)
    return [
      `${record.resource} ${record.recordKey ?? ''}`,
      record.sellerId,
      record.fault,
      record.seenCount,
      moment(record.lastSeenAt),
      more('Raw text', record.rawText),
      button,
    ]
  })
  return table('Quarantined records', ['Record', 'Seller', 'What is wrong', 'Seen', 'Last', 'Raw', 'Do'], rows)
}

const parts = [
  ['numbers', '/v1/overview', numbers],
  ['held', `/v1/commands?state=held&limit=${shownRows}`, held],
  ['alarms', `/v1/alarms?limit=${shownRows}`, alarms],
  ['late', `/v1/orders?late=true&limit=${shownRows}`, late],
  ['commands', '/v1/commands?limit=20', commands],
  ['differences', `/v1/discrepancies?limit=${shownRows}`, differences],
  ['campaigns', `/v1/campaigns?watched=true&limit=${shownRows}`, campaigns],
  ['syncs', '/v1/syncs?limit=200', syncs],
  ['quarantine', `/v1/quarantine?limit=${shownRows}`, quarantine],
]

const tell = (words) => {
  const notice = byId('notice')
  notice.textContent = words
  notice.hidden = words === ''
}

const showKeyForm = (words) => {
  byId('content').hidden = true
  if (byId('key-form').hidden) {
    byId('key-form').hidden = false
    byId('key').focus()
  }
  tell(words)
}

const showReady = ({ status, checks }) => {
  const failing = checks.filter(({ ok }) => !ok).map(({ name, detail }) => (detail === undefined ? name : `${name}: ${detail}`))
  const words = status === 'ok' ? 'Ready' : `Not ready: ${failing.join('; ')}`
  const ready = byId('ready')
  if (ready.textContent !== words) ready.textContent = words
  ready.className = status === 'ok' ? 'good' : 'bad'
}

const refresh = async () => {
  clearTimeout(timer)
  try {
    showReady(await ask('/readyz'))
    const answers = await Promise.all(parts.map(([, path]) => ask(path)))
    byId('key-form').hidden = true
    byId('content').hidden = false
    byId('forget').hidden = sessionStorage.getItem(keyName) === null
    // A row must not move while somebody decides on it.
    if (!byId('decision').open) for (const [index, [id, , build]] of parts.entries()) draw(id, answers[index], build)
    if (failedBefore) tell('')
    failedBefore = false
  } catch (error) {
    failedBefore = true
    if (error.status === 401) {
      const had = sessionStorage.getItem(keyName) !== null
      sessionStorage.removeItem(keyName)
      showKeyForm(had ? 'This key is wrong.' : '')
      return
    }
    if (error instanceof TypeError) showReady({ status: 'failing', checks: [{ name: 'the daemon does not answer', ok: false }] })
    tell(error.message)
  }
  timer = setTimeout(refresh, refreshMs)
}

byId('key-form').onsubmit = (submit) => {
  submit.preventDefault()
  sessionStorage.setItem(keyName, byId('key').value)
  byId('key').value = ''
  refresh()
}
byId('forget').onclick = () => {
  sessionStorage.removeItem(keyName)
  location.reload()
}
byId('decision-cancel').onclick = () => byId('decision').close()
document.addEventListener('visibilitychange', () => {
  clearTimeout(timer)
  if (!document.hidden && byId('key-form').hidden) refresh()
})
refresh()
