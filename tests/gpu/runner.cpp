// Runs the libraries that drivers.py builds, one after the other: seconds for each file; then for each its path, its library
// and its file of cases. Prints a line before and after each file, and ends where a kernel left no usable GPU or no end.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

static const char* path;

static void say(const char* word) {
    char line[4096];
    int length = std::snprintf(line, sizeof line, "\n::kata %s %s\n", word, path);
    std::fflush(stdout);
    (void)!write(1, line, length);
}

static void too_late(int) {
    say("timeout");
    _exit(6);
}

int main(int count, char** arguments) {
    std::signal(SIGALRM, too_late);
    for (int i = 2; i + 2 < count; i += 3) {
        path = arguments[i];
        say("begin");
        alarm(std::atoi(arguments[1]));
        void* library = dlopen(arguments[i + 1], RTLD_NOW | RTLD_LOCAL);
        void* run = library ? dlsym(library, "kata_run") : nullptr;
        if (!run) {
            std::fprintf(stderr, "runner: %s\n", dlerror());
            return 5;
        }
        if (reinterpret_cast<int (*)(const char*)>(run)(arguments[i + 2]) != 0) {
            say("fault");
            return 4;
        }
        alarm(0);
        say("done");
    }
}
