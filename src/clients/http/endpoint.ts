import type { Operation } from './operation.ts'
import type { OnUnknownValue, ParsedRecord } from './record.ts'

/** The operations of an endpoint, by their names in its client. */
export type Operations = Readonly<Record<string, Operation>>

/** The declaration of an endpoint. */
export interface Declaration<Value, Declared extends Operations> {
  readonly operations: Declared
  /**
   * Parses one record from its JSON text (exact); for records in quarantine. Never throws: an unreadable record is returned with its fault.
   */
  readonly read: (rawText: string, onUnknownValue?: OnUnknownValue) => ParsedRecord<Value>
}

/**
 * One part of a marketplace, for `ReadClient.of`. It has no operation that changes anything at the marketplace. `Part` is its client, or null if a seller may not use its host; `Hosts` are the hosts of the
 * marketplace for one seller.
 */
export interface Endpoint<Part, Value = unknown, Declared extends Operations = Operations, Hosts extends object = object>
  extends Declaration<Value, Declared> {
  /** The client for these hosts, created once for each. They must be hosts of the endpoint's marketplace. */
  findPart(hosts: Hosts): Part
}

/**
 * The operations of one part of a marketplace that change something there, for `MarketplaceClient.writer`. A client that only reads has no function that takes it.
 */
export interface WriteEndpoint<Writer, Hosts extends object = object> {
  /** The writer for these hosts, created once for each. They must be hosts of the endpoint's marketplace. */
  findWriter(hosts: Hosts): Writer
}

/** Declares the writes of an endpoint. */
export const declareWrites = <Writer extends object, Hosts extends object>(
  make: (hosts: Hosts) => Writer,
): WriteEndpoint<Writer, Hosts> => {
  const writers = new WeakMap<Hosts, Writer>()
  return {
    findWriter(hosts) {
      const writer = writers.get(hosts) ?? make(hosts)
      writers.set(hosts, writer)
      return writer
    },
  }
}

/** Declares an endpoint. A marketplace may have a shorter function for its own endpoints. */
export const declareEndpoint = <Part extends object | null, Value, const Declared extends Operations, Hosts extends object>(
  declared: Declaration<Value, Declared> & { readonly make: (hosts: Hosts) => Part },
): Endpoint<Part, Value, Declared, Hosts> => {
  const parts = new WeakMap<Hosts, Part>()
  const { operations, read, make } = declared
  return {
    operations,
    read,
    findPart(hosts) {
      const part = parts.get(hosts) ?? make(hosts)
      parts.set(hosts, part)
      return part
    },
  }
}
