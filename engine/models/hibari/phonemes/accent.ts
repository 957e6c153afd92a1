/** How English is pronounced: General American or British. */
export type Accent = 'us' | 'gb';
