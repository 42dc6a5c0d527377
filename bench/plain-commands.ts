/**
 * The least that Postgres has to do for a command, for `commands.ts`: plain tables with their keys and no other index, two prepared statements for a batch
 * (claim it with its intent; store what was answered), plain `pg`. Nothing is checked, compared, read by a schema or tried again.
 */
import pg from 'pg'
import { generateOrder } from './generate.ts'

/** A request to ship, as a job of a bare worker holds it. */
export interface PlainRequest {
  readonly purchaseOrderId: string
  readonly target: string
  readonly body: string
}

const tables = `
  CREATE TABLE plain_orders (purchase_order_id text PRIMARY KEY, order_date timestamptz NOT NULL, raw jsonb NOT NULL, stored_at timestamptz NOT NULL);
  CREATE TABLE plain_order_lines (
    purchase_order_id text NOT NULL, line_number text NOT NULL, sku text NOT NULL, quantity integer NOT NULL, status text NOT NULL, raw jsonb NOT NULL,
    PRIMARY KEY (purchase_order_id, line_number));
  CREATE TABLE plain_commands (id integer PRIMARY KEY, purchase_order_id text NOT NULL, request jsonb NOT NULL, state text NOT NULL, settled_at timestamptz);
  CREATE TABLE plain_attempts (command_id integer PRIMARY KEY, started_at timestamptz NOT NULL, ended_at timestamptz, status integer);
  CREATE TABLE plain_changes (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, purchase_order_id text NOT NULL, type text NOT NULL, data jsonb NOT NULL);`

const lineColumns = `line ->> 'lineNumber' AS line_number, line -> 'item' ->> 'sku' AS sku, (line -> 'orderLineQuantity' ->> 'amount')::integer AS quantity,
  line #>> '{orderLineStatuses,orderLineStatus,0,status}' AS status, line AS raw`

const fillOrders = `
  WITH given AS (SELECT row ->> 'purchaseOrderId' AS purchase_order_id, row AS raw FROM jsonb_array_elements($1::jsonb) AS row),
    orders AS (INSERT INTO plain_orders SELECT purchase_order_id, now(), raw, now() FROM given)
  INSERT INTO plain_order_lines (purchase_order_id, line_number, sku, quantity, status, raw)
  SELECT purchase_order_id, ${lineColumns} FROM given, jsonb_array_elements(given.raw #> '{orderLines,orderLine}') AS line`

const fillCommands = `
  INSERT INTO plain_commands
  SELECT id, purchase_order_id, request, 'pending' FROM jsonb_to_recordset($1::jsonb) AS given(id integer, purchase_order_id text, request jsonb)`

const claim = `
  WITH taken AS (
    UPDATE plain_commands SET state = 'sending' WHERE id = ANY($1::integer[]) AND state = 'pending' RETURNING id, purchase_order_id, request),
  intent AS (INSERT INTO plain_attempts SELECT id, now() FROM taken)
  SELECT taken.id, taken.request, orders.raw AS baseline FROM taken JOIN plain_orders AS orders USING (purchase_order_id)`

const settle = `
  WITH given AS (
    SELECT id, raw ->> 'purchaseOrderId' AS purchase_order_id, raw FROM jsonb_to_recordset($1::jsonb) AS given(id integer, raw jsonb)),
  orders AS (UPDATE plain_orders AS o SET raw = given.raw, stored_at = now() FROM given WHERE o.purchase_order_id = given.purchase_order_id),
  lines AS (
    UPDATE plain_order_lines AS l SET quantity = reported.quantity, status = reported.status, raw = reported.raw
    FROM (SELECT purchase_order_id, ${lineColumns} FROM given, jsonb_array_elements(given.raw #> '{orderLines,orderLine}') AS line) AS reported
    WHERE l.purchase_order_id = reported.purchase_order_id AND l.line_number = reported.line_number),
  attempts AS (UPDATE plain_attempts AS a SET ended_at = now(), status = 200 FROM given WHERE a.command_id = given.id),
  commands AS (UPDATE plain_commands AS c SET state = 'confirmed', settled_at = now() FROM given WHERE c.id = given.id)
  INSERT INTO plain_changes (purchase_order_id, type, data)
  SELECT purchase_order_id, 'order.changed', jsonb_build_object('commandId', id) FROM given`

const pageSize = 200

/**
 * Carries out as many commands as there are requests, this many in a batch, and this many batches at once.
 * @param send sends a request, and answers the body of a 200
 * @param measure runs the work that it is given, and measures it
 */
export const runPlainCommands = async <Measured>({
  databaseUrl,
  requests,
  batchSize,
  batches,
  send,
  ended,
  measure,
}: {
  readonly databaseUrl: string
  readonly requests: readonly PlainRequest[]
  readonly batchSize: number
  readonly batches: number
  readonly send: (target: string, body: string) => Promise<string>
  readonly ended: () => void
  readonly measure: (work: () => Promise<void>) => Promise<Measured>
}): Promise<Measured> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: batches })
  try {
    await pool.query(tables)
    for (let first = 0; first < requests.length; first += pageSize) {
      const page = requests.slice(first, first + pageSize)
      const orders = page.map((_, index) => generateOrder(first + index, 0).rawText)
      await pool.query(fillOrders, [`[${orders.join()}]`])
      const commands = page.map(({ purchaseOrderId, target, body }, index) => ({
        id: first + index,
        purchase_order_id: purchaseOrderId,
        request: { target, body },
      }))
      await pool.query(fillCommands, [JSON.stringify(commands)])
    }
    await pool.query('VACUUM (ANALYZE)')
    const due = requests.map((_, id) => id)
    const work = async (): Promise<void> => {
      for (let ids = due.splice(0, batchSize); ids.length > 0; ids = due.splice(0, batchSize)) {
        const { rows } = await pool.query<{ id: number; request: { target: string; body: string } }>({
          name: 'claim',
          text: claim,
          values: [ids],
        })
        const answers = await Promise.all(
          rows.map(
            async ({ id, request }) =>
              `{"id":${id},"raw":${JSON.stringify(JSON.parse(await send(request.target, request.body)).order)}}`,
          ),
        )
        await pool.query({ name: 'settle', text: settle, values: [`[${answers.join()}]`] })
        for (const _ of rows) ended()
      }
    }
    return await measure(async () => {
      await Promise.all(Array.from({ length: batches }, work))
    })
  } finally {
    await pool.end()
  }
}
