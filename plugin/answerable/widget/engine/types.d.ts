/** Types of the index as the engine's modules see it; nothing of this file is published. */

export interface Postings {
  /** The passages that hold a term, rising. */
  passages: Uint32Array;
  counts: Uint16Array | Uint32Array;
  /** Marks those whose title or text holds it. */
  inText: Uint8Array;
}

export interface Profile {
  hybrid: number;
  dense: number;
  floor: number;
  theme_fade: boolean;
  name_boost: number;
  theme_boost: number;
  recency: number;
  title_cosine: number;
  title_share: number;
  page_words: number;
  history: number;
  passages_per_page: number;
}

export type PhraseIndex = Map<string, { records: number[]; frequency: number }>;

export interface Passage {
  row: number;
  id: string;
  record: string;
  url: string;
  title: string;
  text: string;
  sentences: [start: number, end: number][];
  date: string | null;
  language: string;
  blocks: { kind: string; start: number; end: number; group: number; level: number; detail: string }[];
  spans: { kind: string; start: number; end: number; url: string }[];
  statements: { codes: Int8Array; inverseNorms: Float32Array };
}

export interface Store {
  manifest: { id: string; built_at: string; profile: Profile; dimensions: number };
  recipe: Record<string, Record<string, any>>;
  site: {
    name: string;
    url: string | null;
    language: string;
    names: string[];
    author: string | null;
    scripts: string[];
    /** The languages to read a question in. */
    tags: string[];
    /** The language of the passages from `first` to before `end`. */
    languages: { tag: string; first: number; end: number }[];
  };
  /** Of each record. */
  recordIds: string[];
  weights: Float32Array;
  dates: (string | null)[];
  titleNorms: Float32Array;
  isHistory: Uint8Array;
  /** The length of what a model would read of the page beside a passage. */
  contextLengths: Uint16Array | Uint32Array;
  names: PhraseIndex;
  aliases: PhraseIndex;
  themes: PhraseIndex;
  titleTerms: PhraseIndex;
  /** Of each passage. */
  passageRecords: Uint32Array;
  passageIds: string[];
  passageUrls: string[];
  passageTitles: string[];
  passageLengths: Uint16Array | Uint32Array;
  isShort: Uint8Array;
  hasCode: Uint8Array;
  loadPostings(terms: Iterable<string>): Promise<void>;
  postings(term: string): Postings;
  /** The words of the site, sorted. */
  loadWords(): Promise<string[]>;
  /** The cosine of each passage, estimated from its sign bits. */
  estimateCosines(unit: Float32Array): Float32Array;
  loadCosines(unit: Float32Array, rows: number[]): Promise<Float32Array>;
  loadPassages(rows: Iterable<number>): Promise<Map<number, Passage>>;
}
