import { Component, type ReactNode } from 'react'

import { Button } from './Button.tsx'

interface Props {
  /** What is shown in the place of something that could not be. */
  instead?: ReactNode
  children: ReactNode
}

/** What goes wrong in here stays in here: without it, one message that cannot be shown would take the whole page away. */
export class ErrorBoundary extends Component<Props, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override render(): ReactNode {
    return this.state.broken ? (this.props.instead === undefined ? <LoadError /> : this.props.instead) : this.props.children
  }
}

/** Mostly a part that was not loaded yet: the network is away, or the gateway has another version by now. */
export function LoadError({ className = '' }: { className?: string }) {
  return (
    <div role="alert" className={`space-y-3 p-6 text-center ${className}`}>
      <p className="text-ink-soft">This part could not be shown. What you have written is kept.</p>
      <Button onClick={() => location.reload()}>Load the page again</Button>
    </div>
  )
}
