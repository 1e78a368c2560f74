/* Marks its steps as ranges, for NVIDIA's tools or Intel's: what the parts of NVTX 3 and ITT that are linked into programs do with the
 * library that their variable names. Run by hand with NVTX and ITT themselves as well (probes/preload/README.md). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSteps = 20 };

static volatile double sink;
static void work(void) {
  for (int i = 0; i < 200000; ++i) sink += i;
}

/* NVTX: tables of pointers to the program's function pointers. */
typedef void (*function)(void);
static int (*push)(const char*);
static int (*pop)(void);
static function* core[16] = {[9] = (function*)&push, [11] = (function*)&pop};
static int functions_of(unsigned module, function*** table, unsigned* size) {
  *table = core;
  *size = 16;
  return module == 1;
}
static const struct {
  size_t size;
  int (*functions)(unsigned, function***, unsigned*);
} callbacks = {sizeof callbacks, functions_of};
static const void* export_table(unsigned id) {
  return id == 1 ? &callbacks : NULL;
}

static void with_nvtx(void* library) {
  int (*start)(const void* (*)(unsigned)) = (int (*)(const void* (*)(unsigned)))dlsym(library, "InitializeInjectionNvtx2");
  if (start(export_table) != 1) exit(2);
  for (int i = 0; i < kSteps; ++i) {
    char name[32];
    push("load");
    work();
    pop();
    snprintf(name, sizeof name, "Train step %d", i);
    push(name);
    push("optimizer step"); /* a part of it */
    work();
    pop();
    pop();
  }
}

/* ITT: a list of its functions, by name. */
struct id {
  unsigned long long parts[3];
};
struct listed {
  const char* name;
  void** pointer;
  void* before;
  void* nothing;
  int group;
};
static void* (*create_domain)(const char*);
static void* (*create_string)(const char*);
static void (*begin)(const void*, struct id, struct id, const void*);
static void (*end)(const void*);
static void* other;
static void nothing(void) {}

static void with_itt(void* library) {
  struct listed list[] = {{"__itt_domain_create", (void**)&create_domain, 0, 0, 0},
                          {"__itt_string_handle_create", (void**)&create_string, 0, 0, 0},
                          {"__itt_task_begin", (void**)&begin, 0, 0, 0},
                          {"__itt_task_end", (void**)&end, 0, 0, 0},
                          {"__itt_pause", &other, 0, (void*)nothing, 0},
                          {0, 0, 0, 0, 0}};
  struct {
    unsigned char magic[8];
    unsigned long version[3];
    long state[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char** path;
    struct listed* functions;
    void *next, *threads, *domains;
  } program;
  memset(&program, 0, sizeof program);
  program.functions = list;
  void (*start)(void*, int) = (void (*)(void*, int))dlsym(library, "__itt_api_init");
  start(&program, -1);
  if (other != (void*)nothing) exit(3);
  const int* const domain = create_domain("training");
  if (*domain == 0 || domain != create_domain("training")) exit(4);
  const int* const loading = create_domain("loading");
  const struct id none = {{0, 0, 0}};
  for (int i = 0; i < kSteps; ++i) {
    begin(loading, none, none, create_string("read ahead"));
    begin(domain, none, none, create_string("iteration"));
    end(loading); /* a task of one domain may end within another one's */
    work();
    end(domain);
    begin(domain, none, none, create_string("evaluation"));
    end(domain);
  }
}

int main(int argc, char** argv) {
  const int nvtx = argc > 1 && strcmp(argv[1], "nvtx") == 0;
  const char* const path = getenv(nvtx ? "NVTX_INJECTION64_PATH" : "INTEL_LIBITTNOTIFY64");
  void* const library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  if (library == NULL) return 1;
  (nvtx ? with_nvtx : with_itt)(library);
  return 0;
}
