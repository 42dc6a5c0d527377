import { useState } from 'preact/hooks'
import { answered, api, type Schemas } from '../lib/api.ts'
import { several } from '../lib/format.ts'
import { list, member, number, text } from '../lib/json.ts'
import { invalidate, useQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Attempts } from '../parts/attempts.tsx'
import { type AskedUnits, askedUnits, CommandState, doing, sentences } from '../parts/commands.tsx'
import { type Because, ReasonDialog } from '../parts/dialog.tsx'
import { OrderLink } from '../parts/orders.tsx'
import { Loaded } from '../parts/states.tsx'
import { Rows } from '../parts/table.tsx'
import { None, Raw, Time } from '../parts/text.tsx'
import { toast } from '../parts/toasts.tsx'

type Command = Schemas['Command']
type Order = Schemas['Order']

const whole = {
  retry: {
    action: 'Send again',
    meaning: 'The command is sent again. Choose it when the request certainly changed nothing at the marketplace.',
  },
  confirm: { action: 'It was applied', meaning: 'The command counts as applied. Choose it when the order shows all of it.' },
  reject: {
    action: 'Give it up',
    meaning: 'The command is abandoned and its units are released. Choose it when nothing was applied and nothing should be.',
  },
} as const
type Whole = keyof typeof whole
const wholes: readonly Whole[] = ['confirm', 'retry', 'reject']

const verdicts = [
  ['applied', 'Applied'],
  ['not-applied', 'Not applied, give up'],
  ['send-again', 'Send again'],
] as const

const unitWords = { ship: 'shipped', cancel: 'cancelled', refund: 'refunded' } as const
const wordOf = (kind: string): 'shipped' | 'cancelled' | 'refunded' | null =>
  kind === 'ship' || kind === 'cancel' || kind === 'refund' ? unitWords[kind] : null

/** Units of each line before the first request, as the ERP asked, and as they stand now: of all of it, whatever was decided of a part. */
const Comparison = ({ command, order }: { readonly command: Command; readonly order: Order | undefined }) => {
  const word = wordOf(command.kind)
  if (word === null) return null
  const baselines = command.attempts.flatMap(({ baseline }) => list(member(baseline, 'lines')))
  const beforeOf = (lineNumber: string) => baselines.find((line) => member(line, 'lineNumber') === lineNumber)
  return (
    <Rows
      caption={`Units ${word}: before the request, asked, and now`}
      rows={command.lines}
      keyOf={({ lineNumber }) => lineNumber}
      columns={[
        { head: 'Line', cell: ({ lineNumber }) => lineNumber },
        { head: 'SKU', cell: ({ lineNumber }) => order?.lines.find((line) => line.lineNumber === lineNumber)?.sku ?? <None /> },
        {
          head: `Before: ${word}`,
          number: true,
          cell: ({ lineNumber }) => {
            const before = beforeOf(lineNumber)
            return before === undefined ? <None /> : number(member(before, 'units', word))
          },
        },
        { head: 'Asked', number: true, cell: ({ quantity }) => quantity },
        {
          head: `Now: ${word}`,
          number: true,
          cell: ({ lineNumber }) => order?.lines.find((line) => line.lineNumber === lineNumber)?.[word] ?? <None />,
        },
      ]}
    />
  )
}

const keyOf = ({ lineNumber, trackingNumber = '', reason = '' }: AskedUnits): string =>
  `${lineNumber} ${trackingNumber} ${reason}`

/** For the units of each line one verdict each; how many of them. */
const ByLine = ({ command, done }: { readonly command: Command; readonly done: () => void }) => {
  const asked = askedUnits(command)
  const [given, setGiven] = useState<Readonly<Record<string, Readonly<Record<string, number>>>>>({})
  const [asking, setAsking] = useState(false)
  const of = (entry: AskedUnits, verdict: string): number => given[keyOf(entry)]?.[verdict] ?? 0
  const left = (entry: AskedUnits): number => entry.quantity - verdicts.reduce((sum, [verdict]) => sum + of(entry, verdict), 0)
  const isComplete = asked.every((entry) => left(entry) === 0)
  const set = (entry: AskedUnits, verdict: string, quantity: number): void =>
    setGiven({ ...given, [keyOf(entry)]: { ...given[keyOf(entry)], [verdict]: quantity } })
  const decide = async ({ reason, actor }: Because): Promise<void> => {
    const lines = asked.flatMap((entry) =>
      verdicts.flatMap(([verdict]) => {
        const quantity = of(entry, verdict)
        const { lineNumber, trackingNumber, reason: why } = entry
        const mark = {
          ...(trackingNumber === undefined ? {} : { trackingNumber }),
          ...(why === undefined ? {} : { reason: why }),
        }
        return quantity === 0 ? [] : [{ lineNumber, verdict, quantity, ...mark }]
      }),
    )
    const body = { reason, ...(actor === undefined ? {} : { actor }), lines }
    const { state } = await answered(api.POST('/v1/commands/{id}/decide', { params: { path: { id: command.id } }, body }))
    toast(`Decided. The command is ${state} now.`)
    done()
  }
  return (
    <>
      <Rows
        caption="A verdict for the units of each line"
        rows={asked}
        keyOf={keyOf}
        columns={[
          { head: 'Line', cell: ({ lineNumber }) => lineNumber },
          { head: 'Mark', cell: ({ trackingNumber, reason }) => trackingNumber ?? reason ?? <None /> },
          { head: 'Units', number: true, cell: ({ quantity }) => quantity },
          ...verdicts.map(([verdict, words]) => ({
            head: words,
            cell: (entry: AskedUnits) => (
              <input
                type="number"
                class="units"
                min={0}
                max={entry.quantity}
                value={of(entry, verdict)}
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
        <button type="button" class="primary" disabled={!isComplete} onClick={() => setAsking(true)}>
          Decide by line
        </button>
        {!isComplete && <span class="faint">Each unit needs one verdict before you can decide.</span>}
      </p>
      {asking && (
        <ReasonDialog
          title="Decide by line"
          meaning={asked
            .map((entry) => {
              const words = verdicts.flatMap(([verdict, name]) =>
                of(entry, verdict) > 0 ? [`${of(entry, verdict)} ${name.toLowerCase()}`] : [],
              )
              return `Line ${entry.lineNumber}: ${words.join('; ')}.`
            })
            .join(' ')}
          action="Decide"
          decide={decide}
          close={() => setAsking(false)}
        />
      )}
    </>
  )
}

const Decisions = ({ command, done }: { readonly command: Command; readonly done: () => void }) => {
  const [asking, setAsking] = useState<Whole | null>(null)
  const decide = async (decision: Whole, because: Because): Promise<void> => {
    const parameters = { params: { path: { id: command.id } }, body: because }
    const { state } = await answered(
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
      {wordOf(command.kind) !== null && (
        <>
          <p>Say of each unit what has become of it.</p>
          <ByLine command={command} done={done} />
          <h3>All of it at once</h3>
        </>
      )}
      <p class="row">
        {wholes.map((decision) => (
          <button key={decision} type="button" onClick={() => setAsking(decision)}>
            {whole[decision].action}
          </button>
        ))}
      </p>
      {asking !== null && (
        <ReasonDialog
          title={whole[asking].action}
          meaning={whole[asking].meaning}
          action={whole[asking].action}
          decide={(because) => decide(asking, because)}
          close={() => setAsking(null)}
        />
      )}
    </section>
  )
}

const Shown = ({ command, reload }: { readonly command: Command; readonly reload: () => void }) => {
  const { purchaseOrderId, sellerId } = command
  const may = useMay()
  const order = useQuery(
    `order ${sellerId} ${purchaseOrderId}`,
    async () =>
      purchaseOrderId === null
        ? null
        : await answered(
            api.GET('/v1/orders/{purchaseOrderId}', {
              params: { path: { purchaseOrderId }, query: { sellerId, masked: 'true' } },
            }),
          ),
    { topics: ['order', 'command'] },
  )
  const isSettled = command.state === 'confirmed' || command.state === 'rejected'
  const said = sentences(command)
  return (
    <>
      <h1 tabIndex={-1}>
        {doing(command)}: {command.state}
      </h1>
      <div class={`notice ${command.state === 'held' || command.state === 'rejected' ? 'bad' : ''}`}>
        <p>
          {said.length === 0 ? 'Nothing is known yet: no request has been judged.' : said.join(' ')}
          {command.state === 'held' && ' A person must decide what has become of it.'}
        </p>
        {command.reason !== null && said.join() !== command.reason && <p class="faint">{command.reason}</p>}
      </div>
      <dl class="facts card">
        <dt>State</dt>
        <dd>
          <CommandState state={command.state} />
        </dd>
        <dt>Order</dt>
        <dd>
          {purchaseOrderId === null ? <None /> : <OrderLink sellerId={sellerId} purchaseOrderId={purchaseOrderId} />} of{' '}
          {sellerId}
        </dd>
        <dt>Event</dt>
        <dd>{command.event === null ? <None /> : `${command.event.id} of ${command.event.source}`}</dd>
        <dt>Accepted</dt>
        <dd>
          <Time at={command.createdAt} />
        </dd>
        {command.state !== 'held' && (
          <>
            <dt>{isSettled ? 'Settled' : 'Next look'}</dt>
            <dd>
              <Time at={isSettled ? command.settledAt : command.nextActionAt} />
            </dd>
          </>
        )}
      </dl>
      {command.lines.length > 0 && (
        <>
          <h2>Before, asked, now</h2>
          <Comparison command={command} order={order.data ?? undefined} />
        </>
      )}
      {!isSettled && may('operate') && (
        <Decisions
          command={command}
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
            keyOf={({ decidedAt }) => decidedAt}
            columns={[
              { head: 'When', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
              { head: 'Who', cell: ({ actor }) => actor },
              { head: 'What', cell: ({ decision }) => decision },
              { head: 'Why', cell: ({ reason }) => reason },
            ]}
          />
        </>
      )}
      <h2>{several(command.attempts.length, 'attempt')}</h2>
      <Attempts command={command} />
      <Raw summary="The command as the ERP asked for it" value={command.payload} />
      {text(member(command.evidence, 'verdict')) !== '' && <Raw summary="The evidence" value={command.evidence} />}
    </>
  )
}

/** One command: a sentence first, then the units, then the decisions. */
export const CommandView = ({ parts }: { readonly parts: Readonly<Record<string, string>> }) => {
  const id = parts['id'] ?? ''
  const command = useQuery(`command ${id}`, () => answered(api.GET('/v1/commands/{id}', { params: { path: { id } } })), {
    topics: ['command'],
  })
  return (
    <Loaded query={command} heading={`Command ${id}`}>
      {(data) => <Shown command={data} reload={command.reload} />}
    </Loaded>
  )
}
