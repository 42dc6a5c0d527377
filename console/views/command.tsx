import { useState } from 'preact/hooks'
import { api, readAnswer, type Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
import { list, member, number, text } from '../lib/json.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Attempts } from '../parts/attempts.tsx'
import {
  CommandState,
  explainCommand,
  formatCommand,
  formatReason,
  listRequestedUnits,
  type RequestedUnits,
} from '../parts/commands.tsx'
import { type ReasonAndActor, ReasonDialog } from '../parts/dialog.tsx'
import { eventAddress } from '../parts/events.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { None, Raw, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Command = Schemas['Command']
type Order = Schemas['Order']

const decisions = {
  retry: {
    action: 'Send again',
    effect: (units) => (units === '' ? 'sends it again' : `sends ${units} more`),
    meaning: 'The command is sent again. Choose this if the request certainly changed nothing at the marketplace.',
  },
  confirm: {
    action: 'It was applied',
    effect: (units) => (units === '' ? 'sends nothing' : `counts ${units} as done, sends nothing`),
    meaning: 'The command counts as applied. Choose this if the order shows all of it.',
  },
  reject: {
    action: 'Give it up',
    effect: (units) => (units === '' ? 'sends nothing' : `sends nothing, frees ${units}`),
    meaning: 'The command is abandoned and its units are released. Choose this if nothing was applied and nothing should be.',
  },
} as const satisfies Readonly<
  Record<string, { readonly action: string; readonly effect: (units: string) => string; readonly meaning: string }>
>
type Decision = keyof typeof decisions
const decisionOrder: readonly Decision[] = ['confirm', 'retry', 'reject']

const verdicts = [
  ['applied', 'Applied'],
  ['not-applied', 'Not applied, give up'],
  ['send-again', 'Send again'],
] as const

const participles = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded', 'refund-return': 'refunded' } as const
const findParticiple = (kind: string): 'shipped' | 'cancelled' | 'refunded' | null =>
  kind === 'ship' || kind === 'cancel' || kind === 'refund' || kind === 'refund-return' ? participles[kind] : null

/** A line of the order before the first request; undefined: it is not known. */
const findBaseline = (command: Command, lineNumber: string): unknown =>
  command.attempts
    .flatMap(({ baseline }) => list(member(baseline, 'lines')))
    .find((line) => member(line, 'lineNumber') === lineNumber)

/** Units of each line before the first request, as requested by the ERP, and now; of the whole command, also after a partial decision. */
const Comparison = ({ command, order }: { readonly command: Command; readonly order: Order | undefined }) => {
  const word = findParticiple(command.kind)
  if (word === null) return null
  return (
    <Rows
      caption={`Units ${word}: before the request, requested, and now`}
      rows={command.lines}
      buildKey={({ lineNumber }) => lineNumber}
      columns={[
        { head: 'Line', cell: ({ lineNumber }) => lineNumber },
        { head: 'SKU', cell: ({ lineNumber }) => order?.lines.find((line) => line.lineNumber === lineNumber)?.sku ?? <None /> },
        {
          head: `Before: ${word}`,
          number: true,
          cell: ({ lineNumber }) => {
            const before = findBaseline(command, lineNumber)
            return before === undefined ? <None /> : number(member(before, 'units', word))
          },
        },
        { head: 'Requested', number: true, cell: ({ quantity }) => quantity },
        {
          head: `Now: ${word}`,
          number: true,
          cell: ({ lineNumber }) => order?.lines.find((line) => line.lineNumber === lineNumber)?.[word] ?? <None />,
        },
      ]}
    />
  )
}

/** The tracking numbers of a correction; nothing for other commands. */
const Correction = ({ command: { kind, payload } }: { readonly command: Command }) => {
  if (kind !== 'correct-shipment') return null
  const replacement = member(payload, 'replacement')
  return (
    <>
      <dt>Tracking number</dt>
      <dd>
        <span class="whole">{text(member(payload, 'trackingNumber'))}</span>, to be replaced by{' '}
        <span class="whole">{text(member(replacement, 'trackingNumber'))}</span> of {text(member(replacement, 'carrier'))}
      </dd>
    </>
  )
}

const buildKey = ({ lineNumber, trackingNumber = '', reason = '' }: RequestedUnits): string =>
  `${lineNumber} ${trackingNumber} ${reason}`

/**
 * How many of the requested units the order shows: those of a parcel by its tracking number, others by what was added to the line since the first
 * request. At most the requested ones.
 */
const countSeen = (command: Command, order: Order, { lineNumber, quantity, trackingNumber }: RequestedUnits): number => {
  const word = findParticiple(command.kind)
  const line = order.lines.find((one) => one.lineNumber === lineNumber)
  // After a decision on a part it is not known which of the shown units are the open ones.
  if (line === undefined || word === null || command.parts !== null) return 0
  if (command.kind === 'ship') {
    const parcels = line.shipments.filter((parcel) => parcel.trackingNumber === trackingNumber)
    return Math.min(
      quantity,
      parcels.reduce((sum, parcel) => sum + parcel.quantity, 0),
    )
  }
  // Units of a line with several reasons cannot be distinguished.
  if (command.lines.length !== listRequestedUnits(command).length) return 0
  const before = findBaseline(command, lineNumber)
  return before === undefined ? 0 : Math.max(0, Math.min(quantity, line[word] - number(member(before, 'units', word))))
}

/** A form with the number of units for each verdict, line by line. Units that the order shows are entered as applied. */
const ByLine = ({ command, order, done }: { readonly command: Command; readonly order: Order; readonly done: () => void }) => {
  const requested = listRequestedUnits(command)
  const [given, setGiven] = useState<Readonly<Record<string, Readonly<Record<string, number>>>>>({})
  const [dialog, setDialog] = useState(false)
  const countUnits = (entry: RequestedUnits, verdict: string): number =>
    given[buildKey(entry)]?.[verdict] ?? (verdict === 'applied' ? countSeen(command, order, entry) : 0)
  const countAll = (verdict: string): number => requested.reduce((sum, entry) => sum + countUnits(entry, verdict), 0)
  const left = (entry: RequestedUnits): number =>
    entry.quantity - verdicts.reduce((sum, [verdict]) => sum + countUnits(entry, verdict), 0)
  const isComplete = requested.every((entry) => left(entry) === 0)
  const set = (entry: RequestedUnits, verdict: string, quantity: number): void =>
    setGiven({ ...given, [buildKey(entry)]: { ...given[buildKey(entry)], [verdict]: quantity } })
  const setRest = (verdict: (typeof verdicts)[number][0]): void =>
    setGiven(
      Object.fromEntries(
        requested.map((entry) => [
          buildKey(entry),
          { ...given[buildKey(entry)], [verdict]: countUnits(entry, verdict) + Math.max(0, left(entry)) },
        ]),
      ),
    )
  const decide = async ({ reason, actor }: ReasonAndActor): Promise<void> => {
    const lines = requested.flatMap((entry) =>
      verdicts.flatMap(([verdict]) => {
        const quantity = countUnits(entry, verdict)
        const { lineNumber, trackingNumber, reason: why } = entry
        const mark = {
          ...(trackingNumber === undefined ? {} : { trackingNumber }),
          ...(why === undefined ? {} : { reason: why }),
        }
        return quantity === 0 ? [] : [{ lineNumber, verdict, quantity, ...mark }]
      }),
    )
    const body = { reason, ...(actor === undefined ? {} : { actor }), lines }
    const { state } = await readAnswer(api.POST('/v1/commands/{id}/decide', { params: { path: { id: command.id } }, body }))
    toast(`Decided. The command is ${state} now.`)
    done()
  }
  return (
    <>
      <Rows
        caption="A verdict for the units of each line"
        rows={requested}
        buildKey={buildKey}
        columns={[
          { head: 'Line', cell: ({ lineNumber }) => lineNumber },
          {
            head: command.kind === 'ship' ? 'Tracking number' : 'Reason',
            wraps: true,
            cell: ({ trackingNumber, reason }) => trackingNumber ?? reason ?? <None />,
          },
          { head: 'Units', number: true, cell: ({ quantity }) => quantity },
          ...verdicts.map(([verdict, words]) => ({
            head: words,
            cell: (entry: RequestedUnits) => (
              <input
                type="number"
                class="units"
                min={0}
                max={entry.quantity}
                value={countUnits(entry, verdict)}
                aria-label={`${words}: units of line ${entry.lineNumber} ${entry.trackingNumber ?? entry.reason ?? ''}`.trim()}
                onInput={(input) =>
                  set(entry, verdict, Math.max(0, Math.min(entry.quantity, Math.trunc(input.currentTarget.valueAsNumber || 0))))
                }
              />
            ),
          })),
          {
            head: 'Left',
            number: true,
            cell: (entry) => left(entry),
          },
        ]}
      />
      <p class="row">
        <button type="button" class="primary" disabled={!isComplete} onClick={() => setDialog(true)}>
          Decide by line
        </button>
        <span class="faint">
          {isComplete
            ? `Sends ${pluralize(countAll('send-again'), 'unit')} more, counts ${countAll('applied')} as done, gives up ${countAll('not-applied')}.`
            : 'Each unit needs one verdict before you can decide. What the order shows is entered as applied.'}
        </span>
      </p>
      {!isComplete && (
        <p class="row">
          <button type="button" onClick={() => setRest('send-again')}>
            Enter the rest as to send again
          </button>
          <button type="button" onClick={() => setRest('not-applied')}>
            Enter the rest as given up
          </button>
        </p>
      )}
      {dialog && (
        <ReasonDialog
          title="Decide by line"
          meaning={requested
            .map((entry) => {
              const words = verdicts.flatMap(([verdict, name]) =>
                countUnits(entry, verdict) > 0 ? [`${countUnits(entry, verdict)} ${name.toLowerCase()}`] : [],
              )
              return `Line ${entry.lineNumber}: ${words.join('; ')}.`
            })
            .join(' ')}
          action="Decide"
          decide={decide}
          close={() => setDialog(false)}
        />
      )}
    </>
  )
}

const Decisions = ({
  command,
  order,
  done,
}: {
  readonly command: Command
  readonly order: Order | undefined
  readonly done: () => void
}) => {
  const [dialog, setDialog] = useState<Decision | null>(null)
  const open = listRequestedUnits(command).reduce((sum, { quantity }) => sum + quantity, 0)
  const units = findParticiple(command.kind) === null ? '' : pluralize(open, 'unit')
  const seen =
    order === undefined ? 0 : listRequestedUnits(command).reduce((sum, entry) => sum + countSeen(command, order, entry), 0)
  const decide = async (decision: Decision, reasonAndActor: ReasonAndActor): Promise<void> => {
    const parameters = { params: { path: { id: command.id } }, body: reasonAndActor }
    const { state } = await readAnswer(
      decision === 'retry'
        ? api.POST('/v1/commands/{id}/retry', parameters)
        : decision === 'confirm'
          ? api.POST('/v1/commands/{id}/confirm', parameters)
          : api.POST('/v1/commands/{id}/reject', parameters),
    )
    toast(`Decided. The command is ${state} now.`)
    done()
  }
  return (
    <section aria-label="Decide">
      <h2>Decide</h2>
      {units !== '' && order !== undefined && (
        <>
          <ByLine command={command} order={order} done={done} />
          <h3>The whole command</h3>
        </>
      )}
      <ul class="plain choices">
        {decisionOrder.map((decision) => (
          <li key={decision} class="row">
            <button type="button" aria-describedby={`effect-${decision}`} onClick={() => setDialog(decision)}>
              {decisions[decision].action}
            </button>
            <span id={`effect-${decision}`} class="faint">
              {decisions[decision].effect(units)}
              {decision === 'retry' && seen > 0 && `, although ${seen} of them appeared already`}
            </span>
          </li>
        ))}
      </ul>
      {dialog !== null && (
        <ReasonDialog
          title={decisions[dialog].action}
          meaning={decisions[dialog].meaning}
          action={decisions[dialog].action}
          decide={(reasonAndActor) => decide(dialog, reasonAndActor)}
          close={() => setDialog(null)}
        />
      )}
    </section>
  )
}

const CommandDetails = ({ command, reload }: { readonly command: Command; readonly reload: () => void }) => {
  const { purchaseOrderId, sellerId } = command
  const may = useMay()
  const order = useQuery(
    `order ${sellerId} ${purchaseOrderId}`,
    async () =>
      purchaseOrderId === null
        ? null
        : await readAnswer(
            api.GET('/v1/orders/{purchaseOrderId}', {
              params: { path: { purchaseOrderId }, query: { sellerId, masked: 'true' } },
            }),
          ),
    { topics: ['order', 'command'] },
  )
  const isSettled = command.state === 'confirmed' || command.state === 'rejected'
  const explanation = explainCommand(command)
  return (
    <>
      <h1 tabIndex={-1}>
        {formatCommand(command)}: <CommandState state={command.state} />
      </h1>
      <div class={`notice ${command.state === 'held' || command.state === 'rejected' ? 'bad' : ''}`}>
        <p>
          {explanation.length === 0 ? 'There is no result of a request yet.' : explanation.join(' ')}
          {command.state === 'held' && ' A person must decide whether it was applied.'}
        </p>
        {command.state !== 'held' && command.reason !== null && explanation.join(' ') !== formatReason(command.reason) && (
          <p class="faint">{formatReason(command.reason)}</p>
        )}
      </div>
      <dl class="facts card">
        <dt>Order</dt>
        <dd>
          {purchaseOrderId === null ? <None /> : <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />} of{' '}
          {sellerId}
        </dd>
        <Correction command={command} />
        <dt>Event</dt>
        <dd>
          {command.event === null ? (
            <None />
          ) : (
            <>
              <a href={eventAddress(command.event)}>
                <span class="whole">{command.event.id}</span>
              </a>{' '}
              of {command.event.source}
            </>
          )}
        </dd>
        <dt>Accepted</dt>
        <dd>
          <Time at={command.createdAt} />
        </dd>
        {command.state !== 'held' && (
          <>
            <dt>{isSettled ? 'Settled' : 'Next check'}</dt>
            <dd>
              <Time at={isSettled ? command.settledAt : command.nextActionAt} />
            </dd>
          </>
        )}
      </dl>
      {command.lines.length > 0 && findParticiple(command.kind) !== null && (
        <>
          <h2>Before, requested, now</h2>
          <Comparison command={command} order={order.data ?? undefined} />
        </>
      )}
      {!isSettled && may('operate') && (
        <Decisions
          command={command}
          order={order.data ?? undefined}
          done={() => {
            reload()
            invalidate(new Set(['command', 'order']))
          }}
        />
      )}
      {command.decisions.length > 0 && (
        <>
          <h2>Decisions</h2>
          <Rows
            caption="Decisions of people"
            rows={command.decisions}
            buildKey={({ decidedAt }) => decidedAt}
            columns={[
              { head: 'When', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
              { head: 'Who', cell: ({ actor }) => actor },
              { head: 'Decision', cell: ({ decision }) => decision },
              { head: 'Why', wraps: true, cell: ({ reason }) => reason },
            ]}
          />
        </>
      )}
      <h2>{pluralize(command.attempts.length, 'attempt')}</h2>
      <Attempts command={command} />
      <Raw summary="Request of the ERP" value={command.payload} />
      {text(member(command.evidence, 'verdict')) !== '' && <Raw summary="Evidence" value={command.evidence} />}
    </>
  )
}

/** One command: its explanation, its units, and the decisions. */
export const CommandView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const id = parts['id'] ?? ''
  const command = useQuery(`command ${id}`, () => readAnswer(api.GET('/v1/commands/{id}', { params: { path: { id } } })), {
    topics: ['command'],
  })
  return (
    <Loaded query={command} heading={`Command ${id}`}>
      {(data) => <CommandDetails command={data} reload={command.reload} />}
    </Loaded>
  )
}
