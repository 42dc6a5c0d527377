import type { Operation } from './operation.ts'
import type { OnUnknownValue, ParsedRecord } from './record.ts'

/** The operations of an endpoint, by the name that its client gives them. */
export type Operations = Readonly<Record<string, Operation>>

/** What every endpoint states of itself. */
export interface Declaration<Value, Declared extends Operations> {
  readonly operations: Declared
  /**
   * Reads one record from its JSON text (exact); for records in quarantine. Never throws: a record that cannot be read comes back with
   * the fault.
   */
  readonly read: (rawText: string, onUnknownValue?: OnUnknownValue) => ParsedRecord<Value>
}

/**
 * One part of a marketplace: what `MarketplaceClient.of` takes. `Part` is the client of it, or null where a seller may lack its host;
 * `Hosts` is what a marketplace reaches for one seller.
 */
export interface Endpoint<Part, Value = unknown, Declared extends Operations = Operations, Hosts extends object = object>
  extends Declaration<Value, Declared> {
  /** The part for these hosts, made once for each. Hosts of another marketplace than the endpoint's make no sense here. */
  partOf(hosts: Hosts): Part
}

/** Declares an endpoint; a marketplace has a shorter way for its own. */
export const declareEndpoint = <Part extends object | null, Value, const Declared extends Operations, Hosts extends object>(
  declared: Declaration<Value, Declared> & { readonly make: (hosts: Hosts) => Part },
): Endpoint<Part, Value, Declared, Hosts> => {
  const parts = new WeakMap<Hosts, Part>()
  const { operations, read, make } = declared
  return {
    operations,
    read,
    partOf(hosts) {
      const part = parts.get(hosts) ?? make(hosts)
      parts.set(hosts, part)
      return part
    },
  }
}
