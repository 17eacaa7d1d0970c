import { Component, type ReactNode } from 'react'

import { Button } from './Button.tsx'

interface Props {
  /** Rendered in place of children that failed. */
  fallback?: ReactNode
  children: ReactNode
}

/** Contains render errors, so that one bad message does not blank the whole page. */
export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override render(): ReactNode {
    return this.state.failed ? (this.props.fallback === undefined ? <LoadError /> : this.props.fallback) : this.props.children
  }
}

/** Usually a chunk that failed to load: the network is down, or the server has a newer version. */
export function LoadError({ className = '' }: { className?: string }) {
  return (
    <div role="alert" className={`space-y-3 p-6 text-center ${className}`}>
      <p className="text-ink-soft">This part of the page failed to load. Your drafts are saved.</p>
      <Button onClick={() => location.reload()}>Reload page</Button>
    </div>
  )
}
