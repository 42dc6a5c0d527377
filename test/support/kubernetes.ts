import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import type { Manifest } from './kustomize.ts'

/** The published schemas, as their packages compile them. */
const models = { ConfigMap, Deployment, HorizontalPodAutoscaler, NetworkPolicy, PodDisruptionBudget, Service, ServiceMonitor }

const isKnown = (kind: string): kind is keyof typeof models => kind in models

/** The value, with everything in it that is read noted by its path. */
const watched = <Value>(value: Value, at: string, read: Set<string>): Value => {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get: (target, key, receiver) => {
      const inner: unknown = Reflect.get(target, key, receiver)
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return inner
      const place = `${at}/${key}`
      read.add(place)
      return watched(inner, place, read)
    },
  })
}

const listPaths = (value: unknown, at: string): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [`${at}/${key}`, ...listPaths(inner, `${at}/${key}`)])
    : []

/**
 * What is wrong with an object by the schema of its kind, unknown fields included: the schemas allow them, but a validator reads only fields
 * that its schema has.
 */
export const manifestFaults = (manifest: Manifest): readonly string[] => {
  const { kind, apiVersion } = manifest
  if (!isKnown(kind) || models[kind].apiVersion !== apiVersion) return [`${apiVersion} ${kind}: there is no schema for it`]
  const read = new Set<string>()
  try {
    Reflect.apply(models[kind].prototype.validate, watched(manifest, '', read), [])
  } catch (error) {
    return [String(error)]
  }
  return listPaths(manifest, '')
    .filter((place) => !read.has(place))
    .map((place) => `${place}: is no field of ${kind}`)
}
