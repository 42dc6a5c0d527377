import type { BucketMemory } from '../../clients/bucket.ts'
import type { LimitOf } from '../../clients/budget.ts'
import type { Operation } from '../../clients/operation.ts'
import type { ScheduledStream } from '../schedule.ts'

/** A stream that runs by itself, as the schedule has it, and what a run of it costs. */
export interface SimulatedStream extends ScheduledStream {
  readonly operation: Operation
  /** Calls of one run, one after another; 0: it finds nothing to ask for. */
  readonly calls: number
  /** Its lane among the jobs of the queue (`laneOfJob`). */
  readonly lane: number
}

/** A stream that reads the past once. */
export interface SimulatedBackfill {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  readonly operation: Operation
  /** Calls that are left. */
  readonly calls: number
  readonly lane: number
}

/** A command that waits to be sent, or will come. */
export interface SimulatedCommand {
  /** Unique. */
  readonly id: string
  readonly sellerId: string
  /** Commands of one subject of a seller are carried out one after another, in the order in which they come. */
  readonly subject: string
  readonly kind: string
  /** The write; null: it has been sent, and is only read back. */
  readonly operation: Operation | null
  /** What it reads before it is sent, or back; null: nothing. */
  readonly reads: Operation | null
  /** By when the marketplace wants it, in epoch ms of the simulated clock; null: it has not said. */
  readonly actByMs: number | null
  /** When it comes; in the past: it is there already. */
  readonly comesAtMs: number
  /** Not before this its next step is due. */
  readonly dueAtMs: number
}

/** What is simulated: sellers by what they have, the marketplace by its limits and its pace, and the processes. */
export interface World {
  /** Epoch ms. */
  readonly startMs: number
  /** Makes what is random repeatable: a whole number. */
  readonly seed: number
  /** Processes with all roles. */
  readonly processes: number
  readonly limitOf: LimitOf
  /** What is left of a budget at the start; null: a full bucket that has learned nothing. */
  memoryOf(sellerId: string, operation: Operation): BucketMemory | null
  /** How long the marketplace takes to answer, in ms. */
  answerMs(sellerId: string, operation: Operation): number
  readonly streams: readonly SimulatedStream[]
  readonly backfills: readonly SimulatedBackfill[]
  /** In the order in which they come; asked for as they come, so that they need not all be there at once. */
  readonly commands: Iterable<SimulatedCommand>
}

/** Who is told what happens. Times are epoch ms of the simulated clock. */
export interface Witness {
  /** A call has been granted its budget, and leaves. */
  granted(sellerId: string, operation: Operation, atMs: number): void
  /** A call had to wait for its budget. */
  refused(sellerId: string, operation: Operation, atMs: number): void
  /** A run of a stream has begun that was due at a moment. */
  began(stream: SimulatedStream, dueAtMs: number, atMs: number): void
  /** A backfill has begun a run. */
  wentOn(backfill: SimulatedBackfill, atMs: number): void
  /** The last page of a backfill is stored. */
  finished(backfill: SimulatedBackfill, atMs: number): void
  /** The request of a command leaves. */
  sent(command: SimulatedCommand, atMs: number): void
}
