import type { Store } from '@majlis/client'
import type { CSSProperties, ReactElement } from 'react'

export interface MajlisSpaceProps {
  /** The connection of the member who uses the page: `new Store({ baseUrl, token })`. The page starts and stops it. */
  store: Store
  /** The address of the gateway. Links to runs, members and other spaces open there. */
  baseUrl: string
  spaceId: string
  /** Default: the theme of the system. */
  theme?: 'light' | 'dark'
  className?: string
  /** Give it a height: the timeline scrolls within it. */
  style?: CSSProperties
}

/** The timeline, composer and cards of a space. */
export function MajlisSpace(props: MajlisSpaceProps): ReactElement
