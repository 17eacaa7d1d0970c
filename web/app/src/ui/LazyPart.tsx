import { Suspense, type ReactNode } from 'react'

import { ErrorBoundary, LoadError } from './ErrorBoundary.tsx'

const FLOATING_ERROR = <LoadError className="fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-sm rounded-lg border border-line bg-paper-high shadow-high" />

/** Wraps code that loads on demand. With `over`, a load error floats above the page. */
export function LazyPart({ over = false, children }: { over?: boolean; children: ReactNode }) {
  return <ErrorBoundary {...(over ? { fallback: FLOATING_ERROR } : {})}><Suspense>{children}</Suspense></ErrorBoundary>
}
