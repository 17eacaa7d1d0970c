import { Component, type ReactNode } from 'react'

import { t } from '../language/words.ts'
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

interface LoadErrorProps {
  over?: boolean
  onRetry?: () => void
  onClose?: () => void
}

const FLOATING = 'fixed inset-x-3 top-[12vh] z-50 mx-auto max-w-sm rounded-lg border border-line bg-paper-high shadow-high'

/** Usually a chunk that failed to load: the network is down, or the server has a newer version. */
export function LoadError({ over = false, onRetry, onClose }: LoadErrorProps) {
  return (
    <div role="alert" className={`space-y-3 p-6 text-center ${over ? FLOATING : ''}`} onKeyDown={(event) => event.key === 'Escape' && onClose?.()}>
      <p className="text-ink-soft">{t('This part of the page failed to load. Your drafts are saved.')}</p>
      <div className="flex justify-center gap-2">
        {onRetry && <Button look="primary" autoFocus onClick={onRetry}>{t('Try again')}</Button>}
        <Button onClick={() => location.reload()}>{t('Reload page')}</Button>
        {onClose && <Button onClick={onClose}>{t('Close')}</Button>}
      </div>
    </div>
  )
}
