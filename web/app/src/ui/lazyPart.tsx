import { Suspense, lazy, useState, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react'

import { ErrorBoundary, LoadError } from './ErrorBoundary.tsx'
import { retryImport } from './retryImport.ts'

interface Options {
  /** A load error floats above the page instead of taking the place of the part. */
  over?: boolean
}

/**
 * A component that loads on demand. Unlike with `lazy` alone, a failed load is tried again: three times at once, then
 * whenever the user asks for it or the part is shown again. `onClose` adds a button that closes the error. `waiting` is shown until it has loaded.
 */
export function lazyPart<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>, { over = false }: Options = {}) {
  let loaded: LazyExoticComponent<ComponentType<Props>> | null = null
  const start = () =>
    lazy(() =>
      retryImport(load).catch((error: unknown) => {
        loaded = null
        throw error
      }),
    )
  function Part({ waiting, ...props }: Props & { onClose?: () => void; waiting?: ReactNode }) {
    const [tries, setTries] = useState(0)
    const Loaded = (loaded ??= start()) as ComponentType<Props>
    const error = <LoadError over={over} onRetry={() => setTries(tries + 1)} {...(props.onClose ? { onClose: props.onClose } : {})} />
    return <ErrorBoundary key={tries} fallback={error}><Suspense fallback={waiting}><Loaded {...(props as unknown as Props)} /></Suspense></ErrorBoundary>
  }
  /** Loads the code ahead of time. A failure does not matter: it is loaded again when it is shown. */
  Part.preload = () => void load().catch(() => {})
  return Part
}
